import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { holdResource } from "./held-resources.ts";
import { listenOnLoopback } from "./listen-on-loopback.ts";
import { waitFor } from "./wait-for.ts";

/** A request that reached a receiver whole. */
export interface ReceivedRequest {
  method: string;
  /** Path and query as they were sent. */
  path: string;
  /** By lower-case name; the values of a header that came several times are joined with a comma. */
  headers: Record<string, string>;
  /** The bytes of the body as they were sent; signatures are made over these. */
  body: Buffer;
  /** The body as JSON; undefined when it is none. */
  json: unknown;
  /** When its last byte arrived, in milliseconds since 1970. */
  receivedAtMs: number;
}

/** An answer in full, given after `delayMs` (at once when absent). */
export interface FullAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  delayMs?: number;
}

/**
 * What a receiver does with a request: answers it, never answers ("hang"), closes the connection without an answer
 * ("cut") or in the middle of one that promises more ("cut-midway").
 */
export type ReceiverAnswer = FullAnswer | "hang" | "cut" | "cut-midway";

/** Chooses the answer to a request; `index` counts all requests of the receiver from 0. */
export type ReceiverScript = (request: ReceivedRequest, index: number) => ReceiverAnswer;

/** A server that callbacks are sent to. */
export interface WebhookReceiver {
  readonly port: number;
  /** Its address with a path, `/` when absent: for example http://127.0.0.1:20123/hook. */
  url(path?: string): string;
  /** Everything that has arrived, in the order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** Answers every further request by this script, or always in this way. */
  answerWith(script: ReceiverScript | ReceiverAnswer): void;
  /**
   * Waits for the first request that matches (any when there is no predicate) and that `next` has not returned before.
   * It may have arrived already. Rejects after `timeoutMs` (30 s) with a list of what did arrive.
   */
  next(
    predicate?: (request: ReceivedRequest) => boolean,
    options?: { what?: string; timeoutMs?: number },
  ): Promise<ReceivedRequest>;
  /** Cuts what is still open and frees the port. Safe to call twice. */
  close(): Promise<void>;
}

/** What "cut-midway" says before it closes the connection: less than it promises. */
const HALF_ANSWER = "only the beginning";

/**
 * Starts a real HTTP server on 127.0.0.1 that notes every request and answers 204 until `answerWith` says otherwise.
 * With `port` on that port, so that a receiver can go away and come back; with a free one when absent. A test file that
 * does not close it fails.
 */
export async function startWebhookReceiver(
  options: { port?: number; answer?: ReceiverScript | ReceiverAnswer } = {},
): Promise<WebhookReceiver> {
  const requests: ReceivedRequest[] = [];
  const returned = new Set<ReceivedRequest>();
  const delays = new Set<NodeJS.Timeout>();
  let script = asScript(options.answer ?? { status: 204 });

  function answer(response: ServerResponse, chosen: ReceiverAnswer): void {
    if (chosen === "hang") return;
    if (chosen === "cut") {
      response.destroy();
      return;
    }
    if (chosen === "cut-midway") {
      response.writeHead(200, { "Content-Length": HALF_ANSWER.length * 2 });
      response.write(HALF_ANSWER, () => response.destroy());
      return;
    }
    const give = () => response.writeHead(chosen.status, chosen.headers).end(chosen.body);
    if (chosen.delayMs === undefined) {
      give();
      return;
    }
    const delay = setTimeout(() => {
      delays.delete(delay);
      give();
    }, chosen.delayMs);
    delays.add(delay);
  }

  const server = createServer((message, response) => {
    readRequest(message).then(
      (request) => {
        const index = requests.push(request) - 1;
        answer(response, script(request, index));
      },
      // An aborted request never arrived completely: there is nothing to record and no connection to respond on.
      () => response.destroy(),
    );
  });
  const port = await listenOnLoopback(server, options.port);
  const url = (path = "/") => `http://127.0.0.1:${port}${path}`;

  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= new Promise((resolve) => {
      for (const delay of delays) clearTimeout(delay);
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closing;
  };
  const release = holdResource(`webhook receiver on port ${port}`, close);

  return {
    port,
    url,
    requests,
    answerWith(chosen) {
      script = asScript(chosen);
    },
    next(predicate = () => true, { what = "a request", timeoutMs = 30_000 } = {}) {
      const take = () => {
        const found = requests.find((request) => !returned.has(request) && predicate(request));
        // Noted in the same moment, so that two who wait do not get the same one.
        if (found !== undefined) returned.add(found);
        return found;
      };
      return waitFor(take, {
        what: () => `${what} to reach ${url()}; there were ${requests.map(summaryOf).join(", ") || "none"}`,
        timeoutMs,
      });
    },
    async close() {
      await close();
      release();
    },
  };
}

function asScript(chosen: ReceiverScript | ReceiverAnswer): ReceiverScript {
  return typeof chosen === "function" ? chosen : () => chosen;
}

async function readRequest(message: IncomingMessage): Promise<ReceivedRequest> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  const headers = Object.entries(message.headersDistinct).map(([name, values = []]) => [name, values.join(", ")]);
  return {
    method: message.method ?? "",
    path: message.url ?? "",
    headers: Object.fromEntries(headers) as Record<string, string>,
    body,
    json: parseJson(body),
    receivedAtMs: Date.now(),
  };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    // Tests compare other bodies than JSON by their bytes.
    return undefined;
  }
}

const summaryOf = ({ method, path }: ReceivedRequest) => `${method} ${path}`;

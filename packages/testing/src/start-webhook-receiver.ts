import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { closerOf, listenOnLoopback } from "./child-process.ts";
import { waitFor } from "./wait-for.ts";

/** A request that a receiver got completely. */
export interface ReceivedRequest {
  method: string;
  /** Path and query as sent. */
  path: string;
  /** By lower-case name; the values of a repeated header are joined with a comma. */
  headers: Record<string, string>;
  /** The bytes of the body, which signatures cover. */
  body: Buffer;
  /** The body as JSON; undefined if it is not JSON. */
  json: unknown;
  /** Time of its last byte, in milliseconds since 1970. */
  receivedAtMs: number;
}

/** A complete response, sent after `delayMs` (immediately by default). */
export interface FullAnswer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  delayMs?: number;
}

/**
 * Response of a receiver: a complete one, none ("hang"), or a closed connection before the response ("cut") or in the
 * middle of it ("cut-midway").
 */
export type ReceiverAnswer = FullAnswer | "hang" | "cut" | "cut-midway";

/** Chooses the response to a request; `index` counts all requests of the receiver from 0. */
export type ReceiverScript = (request: ReceivedRequest, index: number) => ReceiverAnswer;

/** A receiver of callbacks. */
export interface WebhookReceiver {
  readonly port: number;
  /** Returns its URL with a path, `/` by default: for example http://127.0.0.1:20123/hook. */
  url(path?: string): string;
  /** All requests, in order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** Sets the script or the response for all later requests. */
  answerWith(script: ReceiverScript | ReceiverAnswer): void;
  /**
   * Waits for the first request that matches the predicate, if there is one, and that `next` has not returned before.
   * It may have arrived already. Rejects after `timeoutMs` (30 s) with a list of what did arrive.
   */
  next(
    predicate?: (request: ReceivedRequest) => boolean,
    options?: { what?: string; timeoutMs?: number },
  ): Promise<ReceivedRequest>;
  /** Cuts open connections and frees the port. Idempotent. */
  close(): Promise<void>;
}

/** Body that "cut-midway" sends before it closes the connection: less than its length. */
const HALF_ANSWER = "only the beginning";

/**
 * Starts a real HTTP server on 127.0.0.1 that records every request and responds with 204 until `answerWith` is called.
 * Listens on `port`, so that a receiver can be restarted, or on a free one. A test file that does not close it fails.
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
        // Marked synchronously, so that concurrent waiters get different ones.
        if (found !== undefined) returned.add(found);
        return found;
      };
      return waitFor(take, {
        what: () => `${what} to reach ${url()}; there were ${requests.map(summaryOf).join(", ") || "none"}`,
        timeoutMs,
      });
    },
    close: closerOf(server, `webhook receiver on port ${port}`, () => {
      for (const delay of delays) clearTimeout(delay);
    }),
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

// A client that keeps its connections and decides for each request without a response whether it may be sent again.
import { Agent, request as sendRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Answer, Body } from "./customer.ts";
import { pause } from "./ground.ts";

const RETRY_MS = 50;
const ANSWER_WITHIN_MS = 30_000;
/** A kept connection that closes later than this after a request was sent was closed in the middle of the request. */
const CLOSED_WITHIN_MS = 250;
/** A call that is not accepted after this many attempts has failed. */
const MAX_TRIES = 40;

interface Request {
  path: string;
  method?: string;
  headers: Record<string, string>;
  body?: string;
}

/** `name` is what it is called in failures. */
interface NamedRequest extends Request {
  name: string;
  onRetry?: () => void;
}

/** One try: its response, or what kind of retry it calls for, or what has failed. */
type Try = Answer | { retry: keyof Asker["retries"] } | { failure: string };

/** Asks replicas until one answers. */
export interface Asker {
  /**
   * Sends a request to a replica, and to the next one after a clean rejection, until the response is 2xx; null if it
   * failed, which is recorded in `failures`.
   */
  ask: (urls: readonly string[], turn: number, request: NamedRequest) => Promise<Answer | null>;
  /** `refused` and `unavailable` come before the request is read, `closed` is a kept connection that ended before. */
  readonly retries: { refused: number; unavailable: number; closed: number };
  readonly failures: string[];
  count(): number;
  close(): void;
}

/** Creates an asker with connections of its own. */
export function createAsker(): Asker {
  const agents = new Map<string, Agent>();
  const retries = { refused: 0, unavailable: 0, closed: 0 };
  const failures: string[] = [];
  let count = 0;
  const agentOf = (url: string) => {
    const agent = agents.get(url) ?? new Agent({ keepAlive: true });
    agents.set(url, agent);
    return agent;
  };
  return {
    retries,
    failures,
    count: () => count,
    async ask(urls, turn, { name, onRetry, ...request }) {
      count++;
      for (let trial = 0; trial < MAX_TRIES; trial++) {
        if (trial > 0) onRetry?.();
        const url = urls[(turn + trial) % urls.length] ?? "";
        const tried = await askOnce(url, agentOf(url), request);
        if ("status" in tried) return tried;
        if ("failure" in tried) {
          failures.push(`${name}: ${tried.failure}`);
          return null;
        }
        retries[tried.retry]++;
        await pause(RETRY_MS);
      }
      failures.push(`${name} was not taken in ${MAX_TRIES} tries`);
      return null;
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

function askOnce(url: string, agent: Agent, { path, method = "GET", headers, body }: Request): Promise<Try> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    const options = { method, agent, headers: { ...headers, ...length }, timeout: ANSWER_WITHIN_MS };
    const sentAt = performance.now();
    const request = sendRequest(`${url}${path}`, options);
    request.on("response", (response) => {
      readResponse(response).then(resolve, (error: Error) =>
        resolve({ failure: `the answer was cut (${error.message})` }),
      );
    });
    request.on("timeout", () => request.destroy(new Error(`no answer in ${ANSWER_WITHIN_MS / 1_000} s`)));
    request.on("error", (error: NodeJS.ErrnoException) => {
      // Without a connection nothing was sent; one in the accept queue is reset when the listener closes.
      if (error.syscall === "connect") {
        resolve({ retry: "refused" });
        return;
      }
      // A kept connection may close at the moment of the next request. Later, it is a call that was interrupted while
      // it waited.
      const age = Math.round(performance.now() - sentAt);
      const isEnded = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      const connection = request.reusedSocket ? "kept" : "new";
      if (isEnded && age <= CLOSED_WITHIN_MS) resolve({ retry: "closed" });
      else resolve({ failure: `${error.message} after ${age} ms on a ${connection} connection` });
    });
    request.end(body);
  });
}

async function readResponse(response: IncomingMessage): Promise<Try> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString();
  const { statusCode: status = 0, headers } = response;
  const isJson = headers["content-type"]?.includes("json") === true;
  if (status < 300) return { status, body: (isJson ? JSON.parse(text) : {}) as Body };
  return status === 503 && headers["retry-after"] !== undefined
    ? { retry: "unavailable" }
    : { failure: `${status} ${text.slice(0, 300)}` };
}

import type { ServerResponse } from "node:http";
import { ServiceError } from "@svc/contracts";
import { addToGauge } from "@svc/telemetry";
import type { Request, Response } from "express";
import { problemAnswer } from "./problem.ts";

/** An answer that goes on: server-sent events (HTML standard, "Server-sent events"). */
export interface EventStream {
  /**
   * Sends an event with its data as JSON, at once. With an id it is where a client goes on that has lost its connection:
   * it sends it back as `Last-Event-ID`. False when the stream is over, or ends here because its reader is too slow: the
   * event is not sent then.
   */
  send(event: string, data: unknown, id?: string): boolean;
  /** True while the reader has not taken what was sent: what can be left out or come later, should. */
  isBehind(): boolean;
  /** Resolves once the reader has taken what was sent, or the stream is over. Whoever waits for it never is too fast. */
  drained(): Promise<void>;
  /** Ends the stream after what was sent. Safe to call twice. */
  end(): void;
  /** Resolves when nothing can be sent any more and the connection is done with it, whoever ended it. Never rejects. */
  closed: Promise<void>;
  isOpen(): boolean;
}

const HEARTBEAT_MS = 15_000;
/** Nothing more is sent while so much waits for its reader: the stream ends, and the client resumes. */
const MAX_WAITING_BYTES = 1_048_576;
/** How long a client waits until it connects again. */
const RETRY_MS = 1_000;

/**
 * Begins to answer with an event stream: status 200, headers and the first bytes go out at once, and a comment every
 * `heartbeatMs` (15 s) in which nothing else is sent, so that nobody on the way takes the line for dead. What is thrown
 * before it is an ordinary error; after it, errors have to be events. `signal` ends the stream, as when the process
 * stops.
 */
export function openEventStream(
  response: ServerResponse,
  { heartbeatMs = HEARTBEAT_MS, signal }: { heartbeatMs?: number; signal?: AbortSignal } = {},
): EventStream {
  let isOver = false;
  // While bytes wait nothing is added: a reader that takes nothing is cut by the server's timeout then.
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(":\n\n");
  }, heartbeatMs);
  heartbeat.unref();

  function settle(): void {
    isOver = true;
    clearInterval(heartbeat);
    signal?.removeEventListener("abort", end);
  }

  function end(): void {
    if (isOver) return;
    settle();
    response.end();
  }

  const closed = new Promise<void>((resolve) => {
    const done = () => {
      settle();
      resolve();
    };
    if (response.destroyed) done();
    else response.once("close", done);
  });
  // Of a line that breaks while something is written; "close" follows.
  response.on("error", settle);
  if (!isOver) {
    addToGauge("svc_event_streams", {}, 1);
    void closed.then(() => addToGauge("svc_event_streams", {}, -1));
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      // Proxies that compress would collect it before.
      "Cache-Control": "no-store, no-transform",
      "X-Accel-Buffering": "no",
    });
    response.write(`retry: ${RETRY_MS}\n\n`);
  }
  if (signal?.aborted === true) end();
  else if (!isOver) signal?.addEventListener("abort", end, { once: true });

  return {
    send(event, data, id) {
      if (isOver || response.destroyed) return false;
      if (response.writableLength > MAX_WAITING_BYTES) {
        end();
        return false;
      }
      // JSON has no line breaks of its own.
      const lines = [...(id === undefined ? [] : [`id: ${id}`]), `event: ${event}`, `data: ${JSON.stringify(data)}`];
      response.write(`${lines.join("\n")}\n\n`);
      heartbeat.refresh();
      return true;
    },
    isBehind: () => response.writableNeedDrain,
    async drained() {
      if (isOver || response.destroyed || !response.writableNeedDrain) return;
      let goOn = () => undefined as void;
      const taken = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      response.once("drain", goOn);
      await Promise.race([taken, closed]);
      response.off("drain", goOn);
    },
    end,
    closed,
    isOpen: () => !isOver && !response.destroyed,
  };
}

/** The data of an event `error`: the problem that would have been the answer. What is no error of ours says nothing. */
export function streamFault(request: Request, response: Response, error: unknown): unknown {
  const known =
    error instanceof ServiceError
      ? error
      : new ServiceError("internal", "Internal error. Quote the request ID when you report it.");
  return JSON.parse(problemAnswer(request, response, known).body);
}

const EVENT_STREAM = "text/event-stream";

/**
 * Whether a caller asks for events rather than for JSON (RFC 9110, section 12.5.1): it has to name `text/event-stream`,
 * and not to like JSON as well or better.
 */
export function wantsEventStream(request: Request): boolean {
  const accepted = request.headers.accept ?? "";
  return (
    accepted.toLowerCase().includes(EVENT_STREAM) &&
    request.accepts(["application/json", EVENT_STREAM]) === EVENT_STREAM
  );
}

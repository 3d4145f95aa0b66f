import type { ServerResponse } from "node:http";
import { ServiceError } from "@svc/contracts";
import { addToGauge } from "@svc/telemetry";
import type { Request, Response } from "express";
import { problemResponse } from "./problem.ts";

/** A response of server-sent events (HTML standard, "Server-sent events"). */
export interface EventStream {
  /**
   * Sends an event with its data as JSON. A client that reconnects sends the ID of the last event as `Last-Event-ID`.
   * Returns false, without sending the event, if the stream has ended, or ends now because its reader is too slow.
   */
  send(event: string, data: unknown, id?: string): boolean;
  /** True while sent data is buffered: events that can be dropped or delayed should be. */
  isBehind(): boolean;
  /** Resolves when no sent data is buffered, or the stream has ended. */
  drained(): Promise<void>;
  /** Ends the stream after the sent data. Safe to call twice. */
  end(): void;
  /** Resolves when the response is closed, by either side. Never rejects. */
  closed: Promise<void>;
  isOpen(): boolean;
}

const HEARTBEAT_MS = 15_000;
/** Maximum buffered data. The stream ends above it, and the client reconnects. */
const MAX_WAITING_BYTES = 1_048_576;
/** Delay before a client reconnects. */
const RETRY_MS = 1_000;

/** Sends the status, the headers and the first bytes of an event stream. */
function writeHead(response: ServerResponse): void {
  response.writeHead(200, {
    "Content-Type": "text/event-stream; charset=utf-8",
    // Proxies that compress would buffer the events.
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",
  });
  response.write(`retry: ${RETRY_MS}\n\n`);
}

async function waitForDrain(response: ServerResponse, closed: Promise<void>): Promise<void> {
  let goOn = () => undefined as void;
  const taken = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  response.once("drain", goOn);
  await Promise.race([taken, closed]);
  response.off("drain", goOn);
}

/**
 * Starts a response that is an event stream: sends status 200, headers and the first bytes immediately, and a comment after
 * every `heartbeatMs` (15 s) without an event, so that proxies keep the connection open. Errors after this call must be
 * sent as events. `signal` ends the stream, for example during shutdown.
 */
export function openEventStream(
  response: ServerResponse,
  { heartbeatMs = HEARTBEAT_MS, signal }: { heartbeatMs?: number; signal?: AbortSignal } = {},
): EventStream {
  let isOver = false;
  // Nothing is added while data is buffered, so that the server's timeout disconnects a client that does not read.
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(":\n\n");
  }, heartbeatMs);
  heartbeat.unref();

  function finish(): void {
    isOver = true;
    clearInterval(heartbeat);
    signal?.removeEventListener("abort", end);
  }

  function end(): void {
    if (isOver) return;
    finish();
    response.end();
  }

  const closed = new Promise<void>((resolve) => {
    const done = () => {
      finish();
      resolve();
    };
    if (response.destroyed) done();
    else response.once("close", done);
  });
  // The connection dropped during a write; "close" follows.
  response.on("error", finish);
  if (!isOver) {
    addToGauge("svc_event_streams", {}, 1);
    void closed.then(() => addToGauge("svc_event_streams", {}, -1));
    writeHead(response);
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
      if (!isOver && !response.destroyed && response.writableNeedDrain) await waitForDrain(response, closed);
    },
    end,
    closed,
    isOpen: () => !isOver && !response.destroyed,
  };
}

/** Returns the data of an event `error`: the problem of a response. Unexpected errors reveal no details. */
export function streamError(request: Request, response: Response, error: unknown): unknown {
  const known =
    error instanceof ServiceError
      ? error
      : new ServiceError("internal", "Internal error. Quote the request ID when you report it.");
  return JSON.parse(problemResponse(request, response, known).body);
}

const EVENT_STREAM = "text/event-stream";

/**
 * Returns true if a caller prefers events to JSON (RFC 9110, section 12.5.1): `Accept` must contain `text/event-stream`,
 * with a higher preference than JSON.
 */
export function wantsEventStream(request: Request): boolean {
  const accepted = request.headers.accept ?? "";
  return (
    accepted.toLowerCase().includes(EVENT_STREAM) &&
    request.accepts(["application/json", EVENT_STREAM]) === EVENT_STREAM
  );
}

import { EventEmitter, once } from "node:events";
import { connect } from "node:net";
import { parseAnswers } from "./parse-answers.ts";
import type { ParsedAnswers } from "./parse-answers.ts";

/** A TCP connection to an API, for arbitrary bytes. */
export interface RawConnection {
  write(bytes: string | Buffer): void;
  /** Ends the output, and continues reading. */
  endInput(): void;
  /** Returns whether the other side has closed the connection. */
  isClosed(): boolean;
  /** Waits for this many responses (default 1), or until the connection is closed without them. */
  answered(options?: { count?: number; timeoutMs?: number }): Promise<ParsedAnswers>;
  /** Waits until the other side has closed the connection, and returns all responses on it. */
  closed(options?: { timeoutMs?: number }): Promise<ParsedAnswers>;
  /** Closes the connection immediately. */
  hangUp(): void;
}

const TIMEOUT_MS = 30_000;

/** Opens a connection to a base URL. The test must close it. */
export async function openRawConnection(baseUrl: string): Promise<RawConnection> {
  const { hostname, port } = new URL(baseUrl);
  // Half open: the end of the test's output does not end the connection.
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await once(socket, "connect");
  const parts: Buffer[] = [];
  const events = new EventEmitter();
  let isClosed = false;
  const close = () => {
    isClosed = true;
    socket.destroy();
    events.emit("news");
  };
  socket.on("data", (part: Buffer) => {
    parts.push(part);
    events.emit("news");
  });
  // A reset connection counts as closed too.
  socket.on("end", close).on("error", close);
  const read = () => parseAnswers(Buffer.concat(parts), isClosed);

  async function waitUntil(isThere: () => boolean, what: string, timeoutMs: number): Promise<ParsedAnswers> {
    const signal = AbortSignal.timeout(timeoutMs);
    while (!isThere()) {
      try {
        await once(events, "news", { signal });
      } catch (error) {
        const state = `it is ${isClosed ? "closed" : "open"} and has carried: ${Buffer.concat(parts).toString()}`;
        throw new Error(`Waited ${timeoutMs} ms in vain for ${what} of a connection; ${state}`, { cause: error });
      }
    }
    return read();
  }

  return {
    write: (bytes) => void socket.write(bytes),
    endInput: () => void socket.end(),
    isClosed: () => isClosed,
    answered: ({ count = 1, timeoutMs = TIMEOUT_MS } = {}) =>
      waitUntil(() => isClosed || read().answers.length >= count, `${count} answers`, timeoutMs),
    closed: ({ timeoutMs = TIMEOUT_MS } = {}) => waitUntil(() => isClosed, "the end", timeoutMs),
    hangUp: () => void socket.destroy(),
  };
}

/**
 * Writes bytes on a new connection, waits for this many responses (default 1), and disconnects. With `endsInput` the
 * end of the output is signalled to the other side.
 */
export async function exchangeRaw(
  baseUrl: string,
  bytes: string | Buffer,
  options: { count?: number; endsInput?: boolean } = {},
): Promise<ParsedAnswers> {
  const { count = 1, endsInput = false } = options;
  const connection = await openRawConnection(baseUrl);
  try {
    connection.write(bytes);
    if (endsInput) connection.endInput();
    return await connection.answered({ count });
  } finally {
    connection.hangUp();
  }
}

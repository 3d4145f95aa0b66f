import { EventEmitter, once } from "node:events";
import { connect } from "node:net";
import { parseAnswers } from "./parse-answers.ts";
import type { ParsedAnswers } from "./parse-answers.ts";

/** A TCP connection to an API, on which a test writes whatever it likes. */
export interface RawConnection {
  write(bytes: string | Buffer): void;
  /** Says that nothing more will be written, and goes on reading. */
  endInput(): void;
  /** True when the other side has closed the connection. */
  isClosed(): boolean;
  /** Waits until so many answers are there (1 when absent), or the connection is closed without them. */
  answered(options?: { count?: number; timeoutMs?: number }): Promise<ParsedAnswers>;
  /** Waits until the other side has closed the connection, and answers all that it has carried. */
  closed(options?: { timeoutMs?: number }): Promise<ParsedAnswers>;
  /** Ends the connection at once. */
  hangUp(): void;
}

const TIMEOUT_MS = 30_000;

/** Opens a connection to a base URL. To be hung up by the test. */
export async function openRawConnection(baseUrl: string): Promise<RawConnection> {
  const { hostname, port } = new URL(baseUrl);
  // Half open: the end of the test's own input is not the end of the connection.
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
  // A connection that is reset was closed, too.
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
 * Writes some bytes on a connection of their own, waits for so many answers (1 when absent), and hangs up. With
 * `endsInput` the other side is told that nothing more comes.
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

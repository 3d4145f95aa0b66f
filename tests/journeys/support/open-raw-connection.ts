import { connect } from "node:net";
import { once } from "node:events";
import { waitFor } from "@svc/testing";
import { parseAnswers } from "./parse-answers.ts";
import type { ParsedAnswers } from "./parse-answers.ts";

/** A TCP connection to an API, on which a test writes whatever it likes. */
export interface RawConnection {
  write(bytes: string | Buffer): void;
  /** Says that nothing more will be written, and goes on reading. */
  endInput(): void;
  /** What has come back so far. */
  read(): ParsedAnswers;
  /** True when the other side has closed the connection. */
  isClosed(): boolean;
  /** Waits until so many answers are there (1 when absent), or the connection is closed without them. */
  answered(options?: { count?: number; timeoutMs?: number }): Promise<ParsedAnswers>;
  /** Waits until the other side has closed the connection. */
  closed(options?: { timeoutMs?: number }): Promise<ParsedAnswers>;
  /** Ends the connection at once. */
  hangUp(): void;
}

/** Opens a connection to a base URL. To be hung up by the test. */
export async function openRawConnection(baseUrl: string): Promise<RawConnection> {
  const { hostname, port } = new URL(baseUrl);
  // Half open: the end of the test's own input is not the end of the connection.
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await once(socket, "connect");
  const parts: Buffer[] = [];
  let isClosed = false;
  const close = () => {
    isClosed = true;
    socket.destroy();
  };
  // A connection that is reset was closed, too.
  socket
    .on("data", (part: Buffer) => parts.push(part))
    .on("end", close)
    .on("error", close);
  const read = () => parseAnswers(Buffer.concat(parts), isClosed);
  const describe = () => `it is ${isClosed ? "closed" : "open"} and has carried: ${Buffer.concat(parts).toString()}`;
  return {
    write: (bytes) => void socket.write(bytes),
    endInput: () => void socket.end(),
    read,
    isClosed: () => isClosed,
    async answered({ count = 1, timeoutMs = 10_000 } = {}) {
      const what = () => `${count} answers on a connection; ${describe()}`;
      await waitFor(() => isClosed || read().answers.length >= count, { what, timeoutMs });
      return read();
    },
    async closed({ timeoutMs = 10_000 } = {}) {
      await waitFor(() => isClosed, { what: () => `the end of a connection; ${describe()}`, timeoutMs });
      return read();
    },
    hangUp: () => void socket.destroy(),
  };
}

/** Writes some bytes on a connection of their own, waits for so many answers (1 when absent), and hangs up. */
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

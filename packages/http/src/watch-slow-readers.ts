import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Interval of the check of all connections. */
const CHECK_MS = 250;
/** A connection on which unsent bytes make no progress for this long is closed. */
const STALLED_MS = 30_000;
/** The same while the process holds more than `PRESSURE_BYTES`. */
const STALLED_UNDER_PRESSURE_MS = 5_000;
const PRESSURE_BYTES = 32 * 1024 * 1024;
/** Above this, the connections with the most unsent bytes are closed at once: six files of 10 MB in full. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;

/** Connections of all servers of this process, with the timeout of their server in milliseconds. */
const connections = new Map<Socket, number>();
/** Connections whose timeout was shortened, with that timeout. */
const shortened = new WeakMap<Socket, number>();
let servers = 0;
let timer: NodeJS.Timeout | undefined;

function check(): void {
  // WebSockets have no timeout: their protocol closes slow readers.
  const behind = [...connections.keys()].filter((socket) => socket.writableLength > 0 && socket.timeout !== 0);
  let unsent = behind.reduce((bytes, socket) => bytes + socket.writableLength, 0);
  const timeoutMs = unsent > PRESSURE_BYTES ? STALLED_UNDER_PRESSURE_MS : STALLED_MS;
  for (const socket of behind) {
    if (shortened.get(socket) === timeoutMs) continue;
    shortened.set(socket, timeoutMs);
    // Node.js does not count a connection as silent while the other end takes bytes of a long write.
    socket.setTimeout(timeoutMs);
  }
  for (const [socket, serverTimeoutMs] of connections) {
    const current = shortened.get(socket);
    if (current === undefined || socket.writableLength > 0) continue;
    shortened.delete(socket);
    // Between two requests Node.js has set the keep-alive timeout in the meantime.
    if (socket.timeout === current) socket.setTimeout(serverTimeoutMs);
  }
  if (unsent <= MAX_UNSENT_BYTES) return;
  for (const socket of behind.toSorted((one, other) => other.writableLength - one.writableLength)) {
    unsent -= socket.writableLength;
    socket.destroy();
    if (unsent <= MAX_UNSENT_BYTES) return;
  }
}

/**
 * Closes the connections of a server whose clients do not read: after 30 s in which no unsent byte was taken, after 5 s
 * while the process holds more than 32 MB of unsent bytes, and at once, those with the most unsent bytes first, above
 * 64 MB. The sums are those of all servers of the process, without WebSockets. Call the returned function when the server is closed.
 */
export function watchSlowReaders(server: Server): () => void {
  server.on("connection", (socket) => {
    connections.set(socket, server.timeout);
    socket.once("close", () => connections.delete(socket));
  });
  servers += 1;
  timer ??= setInterval(check, CHECK_MS).unref();
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    servers -= 1;
    if (servers > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

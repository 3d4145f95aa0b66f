import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** A request that was parsed and whose handler has not been called. */
interface WaitingRequest {
  request: IncomingMessage;
  response: ServerResponse;
}

interface Connection {
  /** The response that is being written; null while none is. */
  active: ServerResponse | null;
  waiting: WaitingRequest[];
  isPaused: boolean;
}

/** Requests waiting on one connection above which nothing more is read from it. */
const PAUSE_AT = 16;
/**
 * Requests that may wait in the whole process. Node.js parses up to 64 KB at once, which can be 2,000 requests of about
 * 3 KB of memory each, so pausing alone does not bound the memory of many connections.
 */
const MAX_WAITING = 6_000;

/** Requests that wait on all connections of this process. */
let waitingInProcess = 0;

/** Handles the requests of a server. */
interface TurnServer {
  listener: RequestListener;
  /** The response that is being written on a connection, or null. */
  activeResponse(socket: Duplex): ServerResponse | null;
}

/**
 * Wraps a handler so that the requests of one connection are handled one after the other: the next one begins once the
 * previous response has been handed to the operating system (RFC 9112, section 9.3.2, allows parallel handling of safe
 * methods only). A client that pipelines requests and does not read holds one response in memory. Reading from a
 * connection pauses while 16 of its requests wait. A connection that would exceed the limit of the process is closed.
 */
export function serveInTurn(handler: RequestListener): TurnServer {
  const connections = new WeakMap<Duplex, Connection>();

  function connectionOf({ socket }: IncomingMessage): Connection {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const connection: Connection = { active: null, waiting: [], isPaused: false };
    connections.set(socket, connection);
    socket.once("close", () => {
      waitingInProcess -= connection.waiting.length;
      connection.waiting = [];
    });
    // Node.js resumes the socket after each parsed message.
    socket.on("resume", () => {
      if (connection.isPaused) socket.pause();
    });
    return connection;
  }

  function begin(connection: Connection, { request, response }: WaitingRequest): void {
    connection.active = response;
    response.once("close", () => {
      connection.active = null;
      // In a new turn of the event loop, so that a long pipeline does not delay other connections.
      if (connection.waiting.length > 0) setImmediate(beginNext, connection);
    });
    handler(request, response);
  }

  function beginNext(connection: Connection): void {
    const next = connection.active === null ? connection.waiting.shift() : undefined;
    if (next === undefined) return;
    waitingInProcess -= 1;
    if (connection.isPaused && connection.waiting.length < PAUSE_AT) {
      connection.isPaused = false;
      next.request.socket.resume();
    }
    begin(connection, next);
  }

  return {
    listener(request, response) {
      const connection = connectionOf(request);
      if (connection.active === null && connection.waiting.length === 0) {
        begin(connection, { request, response });
        return;
      }
      const { socket } = request;
      if (socket.destroyed) return;
      connection.waiting.push({ request, response });
      waitingInProcess += 1;
      if (waitingInProcess > MAX_WAITING) {
        socket.destroy();
      } else if (connection.waiting.length >= PAUSE_AT && !connection.isPaused) {
        connection.isPaused = true;
        socket.pause();
      }
    },
    activeResponse: (socket) => connections.get(socket)?.active ?? null,
  };
}

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
 * 64 MB. The sums are those of all servers of the process, without WebSockets. Without connections nothing is checked.
 */
export function watchSlowReaders(server: Server): void {
  server.on("connection", (socket) => {
    connections.set(socket, server.timeout);
    timer ??= setInterval(check, CHECK_MS).unref();
    socket.once("close", () => {
      connections.delete(socket);
      if (connections.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
  });
}

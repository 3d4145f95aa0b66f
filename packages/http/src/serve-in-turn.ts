import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
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
export interface TurnServer {
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

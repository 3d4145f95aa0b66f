import { randomUUID } from "node:crypto";
import { STATUS_CODES, createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { isIP } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ERRORS } from "@svc/contracts";
import type { ServiceError } from "@svc/contracts";
import { serveInTurn } from "./serve-in-turn.ts";
import { watchSlowReaders } from "./watch-slow-readers.ts";

/** A server that listens. */
export interface Listening {
  server: Server;
  port: number;
  /**
   * Listens at another host instead, on the same port, without ending the calls that are being answered. Connections that
   * the new host does not cover are closed when they are idle, or with their next request. Throws PortTakenError or
   * CannotListenError, and listens at the former host then.
   */
  rebind(host: string): Promise<void>;
  /** Takes no further connection, closes idle ones, waits for answers that are being given, at most `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

/** Where a server is to listen, and the setting that chooses the port. */
export interface ListenAddress {
  host: string;
  port: number;
  setting: string;
}

/** Ports on which other programs listen, at least one. */
export class PortTakenError extends Error {
  constructor(taken: readonly Pick<ListenAddress, "port" | "setting">[]) {
    const ports = taken.map(({ port }) => port).join(", ");
    const settings = taken.map(({ setting }) => setting).join(", ");
    const [what, others] =
      taken.length === 1 ? [`Port ${ports} is`, "another port with"] : [`Ports ${ports} are`, "other ports with"];
    super(
      `${what} already in use, possibly by another installation of this product. Stop that program, or choose ${others} ${settings}.`,
    );
    this.name = "PortTakenError";
    // A channel logs it if the port is taken while the product runs. Its sentence says everything.
    delete this.stack;
  }
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** A connection on which nothing moves for so long is cut: longer than any call waits (two minutes). */
const SILENCE_TIMEOUT_MS = 150_000;
/** How often a server that closes looks for connections that have become idle. */
const IDLE_CHECK_MS = 50;
/**
 * A connection on which nothing came for so long after it was opened was opened in advance, as browsers do. Node does not
 * count it as idle.
 */
const UNUSED_MS = 500;

/** Time that a listener which closes accepts waiting connections: under a load in which each turn brings another one. */
const ACCEPT_WAITING_MS = 3_000;
/** Duration of a turn of the event loop that does nothing but look for connections, with room for a slow machine. */
const QUIET_TURN_MS = 1;
/** Time that it waits for such a turn; a busy process may have none. */
const AWAIT_QUIET_MS = 500;

/** An address that cannot be listened on. */
export class CannotListenError extends Error {
  constructor({ host, port, setting }: ListenAddress, cause: NodeJS.ErrnoException) {
    super(
      `Cannot listen on ${host}:${port} (${cause.code ?? cause.message}). Set SVC_BIND_HOST to an address of this machine (0.0.0.0 for all interfaces) and ${setting} to a port that this user may use.`,
      { cause },
    );
    this.name = "CannotListenError";
  }
}

/** What a request that never reaches a route is told. */
interface Refusal {
  status: string;
  detail: string;
}

const NO_HTTP: Refusal = { status: "400 Bad Request", detail: "The request is not valid HTTP." };
const NO_HOST: Refusal = { ...NO_HTTP, detail: "Send exactly one Host header (RFC 9112, section 3.2)." };
const NO_PROXY: Refusal = { ...NO_HTTP, detail: "This server is not a proxy and does not support CONNECT." };
/** What a request that is no HTTP is told, by Node's code for its fault. */
const BROKEN_REQUESTS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: { status: "431 Request Header Fields Too Large", detail: "The request headers are too large." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: "408 Request Timeout", detail: "The request was not received in time." },
};

/** A refusal in the shape of every other error; the connection is closed after it. */
function problemOf({ status, detail }: Refusal): { headers: Record<string, string>; body: string } {
  const requestId = randomUUID();
  const body = JSON.stringify({
    ok: false,
    type: "urn:svc:error:invalid_request",
    title: ERRORS.invalid_request.title,
    status: Number.parseInt(status, 10),
    code: "invalid_request",
    detail,
    requestId,
  });
  const headers = {
    "Content-Type": "application/problem+json",
    "Content-Length": String(Buffer.byteLength(body)),
    "X-Request-Id": requestId,
    Connection: "close",
  };
  return { headers, body };
}

/**
 * Answers a request that asks for an upgrade with an error, in the shape of every other one, and closes its connection.
 */
export function writeProblem(socket: Duplex, error: ServiceError): void {
  const { status, title } = ERRORS[error.code];
  const requestId = randomUUID();
  const body = JSON.stringify({
    ok: false,
    type: `urn:svc:error:${error.code}`,
    title,
    status,
    code: error.code,
    detail: error.message,
    requestId,
  });
  const headers = {
    ...error.headers,
    "Content-Type": "application/problem+json",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Request-Id": requestId,
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? title}`, ...lines, "", body].join("\r\n"));
}

/** Answers on a connection for which Node has made no response. */
function refuse(socket: Duplex, refusal: Refusal): void {
  const { headers, body } = problemOf(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${refusal.status}`, ...lines, "", body].join("\r\n"));
}

/** Answers what never became a request, unless that would go into the middle of an answer that is being given. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex, active: ServerResponse | null): void {
  const isAnswering = active !== null && active.headersSent && !active.writableEnded;
  if (error.code === "ECONNRESET" || !socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  refuse(socket, BROKEN_REQUESTS[error.code ?? ""] ?? NO_HTTP);
}

/** HTTP/1.1 asks for one Host (RFC 9112, section 3.2). Node alone would answer without a body, and let two pass. */
function lacksHost(request: IncomingMessage): boolean {
  return request.httpVersion === "1.1" && request.headersDistinct["host"]?.length !== 1;
}

const EVERYWHERE = new Set(["0.0.0.0", "::"]);

/** Whether a listener at a host would have accepted a connection to this local address; names cover every address. */
function coversAddress(host: string, localAddress: string | undefined): boolean {
  if (EVERYWHERE.has(host) || isIP(host) === 0 || localAddress === undefined) return true;
  return localAddress === host || localAddress === `::ffff:${host}`;
}

/**
 * Accepts the connections that the system has made and the process has not accepted yet: it resets them when the listener
 * closes. In each turn of the event loop one is accepted (libuv since 1.45), so turns follow until one brings none, and
 * takes so little time that hardly any can have been made since it looked.
 */
async function acceptWaiting(server: Server): Promise<void> {
  const startedAt = performance.now();
  let accepted = 0;
  const count = () => accepted++;
  server.on("connection", count);
  // The first turn ends with the connections that this one has found.
  await nextTurn();
  for (let isDone = false; !isDone;) {
    const before = accepted;
    const began = performance.now();
    await nextTurn();
    const now = performance.now();
    const isQuiet = now - began <= QUIET_TURN_MS || now - startedAt > AWAIT_QUIET_MS;
    isDone = (accepted === before && isQuiet) || now - startedAt > ACCEPT_WAITING_MS;
  }
  server.off("connection", count);
}

/**
 * Listens on a host and port. Slow headers are cut after 10 s and slow bodies after 30 s, or `requestTimeoutMs`, which
 * begins with the headers, where large ones are taken. The requests of a connection are handled one after the other
 * (`serveInTurn`), and clients that do not read are disconnected (`watchSlowReaders`). Throws PortTakenError, which names
 * the setting that chooses the port, or CannotListenError.
 */
export async function listen(
  handler: RequestListener,
  address: ListenAddress & { requestTimeoutMs?: number },
): Promise<Listening> {
  let boundHost = address.host;
  const turns = serveInTurn((request, response) => {
    if (!coversAddress(boundHost, request.socket.localAddress)) {
      request.socket.destroy();
      return;
    }
    if (!lacksHost(request)) {
      handler(request, response);
      return;
    }
    const { headers, body } = problemOf(NO_HOST);
    response.writeHead(400, headers).end(body);
  });
  const requestTimeout = address.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const server = createServer(
    {
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeout),
      requestTimeout,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 65_000,
      noDelay: true,
      requireHostHeader: false,
    },
    turns.listener,
  );
  /** When each connection was opened. */
  const openedAt = new Map<Socket, number>();
  server.on("connection", (socket) => {
    openedAt.set(socket, performance.now());
    socket.once("close", () => openedAt.delete(socket));
  });
  const closeUnused = () => {
    server.closeIdleConnections();
    for (const [socket, at] of openedAt) {
      if (socket.bytesRead === 0 && performance.now() - at > UNUSED_MS) socket.destroy();
    }
  };
  // Of a caller that neither reads its answer nor hangs up. Above the longest wait, in which nothing is sent.
  server.setTimeout(SILENCE_TIMEOUT_MS);
  // Their size is limited; a limit of their number would drop the later ones, a key among them, without a word.
  server.maxHeadersCount = 0;
  server.on("clientError", (error, socket) => answerBrokenRequest(error, socket, turns.activeResponse(socket)));
  // Without a listener Node would close the connection without an answer.
  server.on("connect", (_request, socket) => refuse(socket, NO_PROXY));
  // Without a listener Node would answer 417 itself; an expectation that is not understood may be ignored (RFC 9110).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  const bind = (host: string, at: number) =>
    new Promise<void>((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException) => {
        const wanted = { ...address, host, port: at };
        reject(error.code === "EADDRINUSE" ? new PortTakenError([wanted]) : new CannotListenError(wanted, error));
      };
      server.once("error", fail);
      server.listen(at, host, () => {
        server.off("error", fail);
        resolve();
      });
    });
  await bind(address.host, address.port);
  const { port } = server.address() as AddressInfo;
  const endWatch = watchSlowReaders(server);
  return {
    server,
    port,
    async rebind(host) {
      await acceptWaiting(server);
      // Closes the listener and idle connections; calls that are being answered keep theirs.
      server.close();
      const former = boundHost;
      try {
        await bind(host, port);
        boundHost = host;
      } catch (error) {
        await bind(former, port);
        throw error;
      }
    },
    async close(deadlineMs) {
      await acceptWaiting(server);
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      closeUnused();
      // A connection whose answer ends from now on would be kept open for its client's next request.
      // After the turn has read what arrived: a process that was paused has not seen the requests of these connections yet.
      const idleCheck = setInterval(() => setImmediate(closeUnused), IDLE_CHECK_MS);
      const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearInterval(idleCheck);
      clearTimeout(timer);
      endWatch();
    },
  };
}

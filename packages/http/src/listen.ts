import { randomUUID } from "node:crypto";
import { STATUS_CODES, createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer as createTcpServer, isIP } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ERRORS } from "@svc/contracts";
import type { ErrorCode, ServiceError } from "@svc/contracts";
import { serveInTurn, watchSlowReaders } from "./serve-in-turn.ts";

/** A listening server. */
export interface Listening {
  server: Server;
  port: number;
  /**
   * Listens on another host instead, on the same port, without aborting requests in progress. Connections that the new host
   * does not cover are closed when they are idle, or with their next request. Throws PortTakenError or CannotListenError
   * after an error, and then listens on the previous host.
   */
  rebind(host: string): Promise<void>;
  /** Stops accepting connections, closes idle ones, and waits at most `deadlineMs` for requests in progress. */
  close(deadlineMs: number): Promise<void>;
}

/** Host and port of a server, and the setting that chooses the port. */
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
/** Timeout of a connection without traffic: longer than any request waits (two minutes). */
const SILENCE_TIMEOUT_MS = 150_000;
/** Interval at which a closing server checks for idle connections. */
const IDLE_CHECK_MS = 50;
/**
 * After this time without data, a new connection counts as opened in advance, as browsers do. Node.js does not count it
 * as idle.
 */
const UNUSED_MS = 500;

/** Maximum duration for which a closing listener accepts waiting connections, under constant load. */
const ACCEPT_WAITING_MS = 3_000;
/** Maximum duration of a turn of the event loop that has only checked for connections, with room for a slow machine. */
const QUIET_TURN_MS = 1;
/** Maximum wait for such a turn; a busy process may have none. */
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

/** The error of a request that never reaches a route. */
interface Refusal {
  status: string;
  detail: string;
}

const NO_HTTP: Refusal = { status: "400 Bad Request", detail: "The request is not valid HTTP." };
const NO_HOST: Refusal = { ...NO_HTTP, detail: "Send exactly one Host header (RFC 9112, section 3.2)." };
const NO_PROXY: Refusal = { ...NO_HTTP, detail: "This server is not a proxy and does not support CONNECT." };
/** Errors of requests that Node.js could not parse, by its error code. */
const BROKEN_REQUESTS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: { status: "431 Request Header Fields Too Large", detail: "The request headers are too large." },
  ERR_HTTP_REQUEST_TIMEOUT: { status: "408 Request Timeout", detail: "The request was not received in time." },
};

/** Returns headers and body of a problem, after which the connection is closed. */
function problemOf(code: ErrorCode, status: number, detail: string): { headers: Record<string, string>; body: string } {
  const requestId = randomUUID();
  const { title } = ERRORS[code];
  const body = JSON.stringify({ ok: false, type: `urn:svc:error:${code}`, title, status, code, detail, requestId });
  const headers = {
    "Content-Type": "application/problem+json",
    "Content-Length": String(Buffer.byteLength(body)),
    "X-Request-Id": requestId,
    Connection: "close",
  };
  return { headers, body };
}

/** Writes a response to a connection for which Node.js has created none, and closes it. */
function writeResponse(socket: Duplex, status: string, headers: Record<string, string>, body: string): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n"));
}

/** Responds to an upgrade request with a problem, and closes its connection. */
export function writeProblem(socket: Duplex, error: ServiceError): void {
  const { status, title } = ERRORS[error.code];
  const { headers, body } = problemOf(error.code, status, error.message);
  const all = { ...error.headers, ...headers, "Cache-Control": "no-store" };
  writeResponse(socket, `${status} ${STATUS_CODES[status] ?? title}`, all, body);
}

function refuse(socket: Duplex, { status, detail }: Refusal): void {
  const { headers, body } = problemOf("invalid_request", Number.parseInt(status, 10), detail);
  writeResponse(socket, status, headers, body);
}

/** Responds to data that is not a request, unless a response is being written on the connection. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex, active: ServerResponse | null): void {
  const isAnswering = active !== null && active.headersSent && !active.writableEnded;
  if (error.code === "ECONNRESET" || !socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  refuse(socket, BROKEN_REQUESTS[error.code ?? ""] ?? NO_HTTP);
}

/** HTTP/1.1 requires one Host (RFC 9112, section 3.2). Node.js would respond without a body, and accept two. */
function lacksHost(request: IncomingMessage): boolean {
  return request.httpVersion === "1.1" && request.headersDistinct["host"]?.length !== 1;
}

const EVERYWHERE = new Set(["0.0.0.0", "::"]);

/** Returns true if a listener on a host accepts connections to this local address; names cover every address. */
function coversAddress(host: string, localAddress: string | undefined): boolean {
  if (EVERYWHERE.has(host) || isIP(host) === 0 || localAddress === undefined) return true;
  return localAddress === host || localAddress === `::ffff:${host}`;
}

/**
 * Accepts the connections that the operating system has established and the process has not accepted yet; closing the
 * listener would reset them. Each turn of the event loop accepts one (libuv since 1.45), so this runs turns until one
 * accepts none and is so short that hardly any can have arrived since its check.
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

/** Creates a server with the timeouts of this product, which handles requests in turn. It does not listen yet. */
function createTurnServer(handler: RequestListener, requestTimeout: number): Server {
  const turns = serveInTurn(handler);
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
  // For clients that neither read nor disconnect. Above the longest wait, in which nothing is sent.
  server.setTimeout(SILENCE_TIMEOUT_MS);
  // The size of headers is limited. A limit of their number would silently drop the later ones, such as a key.
  server.maxHeadersCount = 0;
  server.on("clientError", (error, socket) => answerBrokenRequest(error, socket, turns.activeResponse(socket)));
  // Without a listener, Node.js would close the connection without a response.
  server.on("connect", (_request, socket) => refuse(socket, NO_PROXY));
  // Without a listener, Node.js would respond with 417. Unknown expectations may be ignored (RFC 9110).
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return server;
}

/** Returns a function that closes idle connections, including those on which nothing was received since they were opened. */
function createIdleCloser(server: Server): () => void {
  const openedAt = new Map<Socket, number>();
  server.on("connection", (socket) => {
    openedAt.set(socket, performance.now());
    socket.once("close", () => openedAt.delete(socket));
  });
  return () => {
    server.closeIdleConnections();
    for (const [socket, at] of openedAt) {
      if (socket.bytesRead === 0 && performance.now() - at > UNUSED_MS) socket.destroy();
    }
  };
}

/** Binds a server to an address. Throws PortTakenError or CannotListenError. */
function bind(server: Server, address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      reject(error.code === "EADDRINUSE" ? new PortTakenError([address]) : new CannotListenError(address, error));
    };
    server.once("error", fail);
    server.listen(address.port, address.host, () => {
      server.off("error", fail);
      resolve();
    });
  });
}

/**
 * Listens on a host and port. Slow headers are aborted after 10 s and slow bodies after 30 s, or `requestTimeoutMs`, which
 * starts with the headers, on servers that accept large ones. The requests of a connection are handled one after the other
 * (`serveInTurn`), and clients that do not read are disconnected (`watchSlowReaders`). Throws PortTakenError, which names
 * the setting that chooses the port, or CannotListenError.
 */
export async function listen(
  handler: RequestListener,
  address: ListenAddress & { requestTimeoutMs?: number },
): Promise<Listening> {
  let boundHost = address.host;
  const server = createTurnServer((request, response) => {
    if (!coversAddress(boundHost, request.socket.localAddress)) {
      request.socket.destroy();
      return;
    }
    if (!lacksHost(request)) {
      handler(request, response);
      return;
    }
    const { headers, body } = problemOf("invalid_request", 400, NO_HOST.detail);
    response.writeHead(400, headers).end(body);
  }, address.requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
  const closeIdle = createIdleCloser(server);
  await bind(server, address);
  const { port } = server.address() as AddressInfo;
  watchSlowReaders(server);
  return {
    server,
    port,
    async rebind(host) {
      await acceptWaiting(server);
      // Closes the listener and idle connections. Requests in progress keep theirs.
      server.close();
      try {
        await bind(server, { ...address, host, port });
        boundHost = host;
      } catch (error) {
        await bind(server, { ...address, host: boundHost, port });
        throw error;
      }
    },
    async close(deadlineMs) {
      await acceptWaiting(server);
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      closeIdle();
      // A connection whose response ends from now on would be kept open for its client's next request. Checked after the
      // turn has read what arrived: a process that was paused has not seen the requests of these connections yet.
      const idleCheck = setInterval(() => setImmediate(closeIdle), IDLE_CHECK_MS);
      const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearInterval(idleCheck);
      clearTimeout(timer);
    },
  };
}

/** Returns the system's error for listening on an address, or null. */
function findListenError({ host, port }: ListenAddress): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const server = createTcpServer();
    server.once("error", resolve);
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

/**
 * Checks at startup that every address can be listened on. Throws PortTakenError with all ports that are taken, else
 * CannotListenError for the first address that cannot be used.
 */
export async function checkPortsFree(addresses: readonly ListenAddress[]): Promise<void> {
  const taken: ListenAddress[] = [];
  let unusable: CannotListenError | null = null;
  for (const address of addresses) {
    const error = await findListenError(address);
    if (error?.code === "EADDRINUSE") taken.push(address);
    else if (error !== null) unusable ??= new CannotListenError(address, error);
  }
  if (taken.length > 0) throw new PortTakenError(taken);
  if (unusable !== null) throw unusable;
}

import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Duplex } from "node:stream";
import type { Express, RequestHandler } from "express";
import { WebSocketServer } from "ws";
import type { RawData } from "ws";
import { ServiceError, WIDGET_LIMITS } from "@svc/contracts";
import { clientAddress, upgradeAddress, writeProblem } from "@svc/http";
import type { Log } from "@svc/log";
import { beforeScrape, setGauge } from "@svc/telemetry";
import type { WidgetContext } from "../widget-context.ts";
import { createChatRooms } from "./chat-rooms.ts";
import { closeSocket, plainConnection, PlainSocket } from "./connection.ts";
import type { CloseReason } from "./connection.ts";
import { enqueueFrame, greetByAddress } from "./handle-frame.ts";
import type { FrameContext } from "./handle-frame.ts";
import { isSocketIo, openSocketIo } from "./open-socket-io.ts";
import { admitSocket, createLiveSessions, createSession, queryOf } from "./session.ts";
import type { Admission, LiveSessions, Session } from "./session.ts";

/** Handles a message of a plain WebSocket, which must be one frame as JSON. */
function takeMessage(context: FrameContext, session: Session, data: RawData, isBinary: boolean): void {
  const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
  if (isBinary || bytes.length > WIDGET_LIMITS.frameMaxBytes) {
    session.line.end("badFrame");
    return;
  }
  let sent: unknown;
  try {
    sent = JSON.parse(bytes.toString("utf8"));
  } catch {
    // Without JSON there is no frame that a response could be about.
    session.line.end("badFrame");
    return;
  }
  enqueueFrame(context, session, sent);
}

/** Pings all sockets, and terminates those that have not responded to the last ping. */
function pingAll(sockets: Iterable<PlainSocket>, alive: WeakSet<PlainSocket>): void {
  for (const socket of sockets) {
    if (!alive.delete(socket)) socket.terminate();
    else socket.ping();
  }
}

/** Opens plain WebSockets. Requests are handed to it after they were admitted. */
function openPlainSockets(
  context: FrameContext,
  live: LiveSessions,
  { log, receiveMaxBytes, pingMs }: { log: Log; receiveMaxBytes: number; pingMs: number },
) {
  const server = new WebSocketServer({
    noServer: true,
    WebSocket: PlainSocket,
    maxPayload: receiveMaxBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const sockets = new Set<PlainSocket>();
  /** Sockets that have responded to the last ping. */
  const alive = new WeakSet<PlainSocket>();
  const pinger = setInterval(() => pingAll(sockets, alive), pingMs).unref();

  function take(socket: PlainSocket, request: IncomingMessage, admission: Admission): void {
    const session = createSession(plainConnection(socket), admission);
    live.add(session);
    sockets.add(socket);
    alive.add(socket);
    socket.on("pong", () => alive.add(socket));
    socket.on("close", () => {
      sockets.delete(socket);
      live.remove(session);
    });
    socket.on("message", (data: RawData, isBinary: boolean) => {
      alive.add(socket);
      takeMessage(context, session, data, isBinary);
    });
    const visitorId = queryOf(request).get("visitorId");
    if (visitorId !== null) greetByAddress(context, session, visitorId);
  }

  return {
    count: () => sockets.size,

    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, admission: Admission): void {
      server.handleUpgrade(request, socket, head, (opened) => {
        // The library closes the socket after a frame that breaks the protocol or is too large.
        opened.on("error", (error) => log.debug({ error }, "WebSocket error"));
        take(opened, request, admission);
      });
    },

    /**
     * Opens a socket only to close it with a code, because browsers expose only the code of a close, not the status of
     * a rejected handshake. Nothing is read from it or sent to it.
     */
    refuse(
      request: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      { end, error }: { end: CloseReason; error: unknown },
    ) {
      server.handleUpgrade(request, socket, head, (refused) => {
        refused.on("error", () => refused.terminate());
        closeSocket(refused, end, error instanceof ServiceError ? error.code : end);
      });
    },

    stopPings: () => clearInterval(pinger),
    close() {
      for (const socket of sockets) socket.terminate();
      server.close();
    },
  };
}

/** Path of the socket, for socket.io and plain WebSockets alike. */
export const SOCKET_PATH = "/api/widget/ws";

const TICK_MS = 1_000;
const PING_MS = 25_000;
const PONG_MS = 20_000;
/** Time limit for a connection to identify the visitor. */
const HELLO_MS = 30_000;
/** Time for which a shutdown waits for the work of connections. */
const END_MS = 1_000;
/** A larger frame is not read completely; one between the two limits is closed with the code of the contract. */
const RECEIVE_MAX_BYTES = 2 * WIDGET_LIMITS.frameMaxBytes;

/** Close codes of plain WebSockets that are not admitted. */
const REFUSALS: Readonly<Record<string, CloseReason>> = {
  missing_key: "badKey",
  invalid_key: "badKey",
  origin_not_allowed: "origin",
  rate_limited: "rate",
  quota_exceeded: "rate",
};

/** The sockets of this process. */
export interface Sockets {
  /** For the polling requests of socket.io. */
  handler: RequestHandler;
  /** Handles the upgrades of a server that listens. */
  attach(server: HttpServer, app: Express): void;
  wake(ticketIds: readonly string[]): void;
  /** Number of open connections. */
  count(): number;
  /** Closes every connection so that its client connects to another replica. Resolves when all are closed. */
  close(): Promise<void>;
}

function showCounts(websocket: number, socketio: number): void {
  setGauge("svc_sockets", { transport: "websocket" }, websocket);
  setGauge("svc_sockets", { transport: "socketio" }, socketio);
}

/** The servers of both kinds of sockets, with their admission check. */
function openServers(context: WidgetContext) {
  const { log, store } = context;
  const rooms = createChatRooms({ store, log });
  const frames = { ...context, rooms };
  const live = createLiveSessions(context, rooms, HELLO_MS);
  const limits = { receiveMaxBytes: RECEIVE_MAX_BYTES, pingMs: PING_MS };
  const plain = openPlainSockets(frames, live, { ...limits, log });
  const io = openSocketIo(frames, live, { ...limits, path: SOCKET_PATH, pongMs: PONG_MS, helloMs: HELLO_MS });

  /** Checks a new socket, and the limits of sockets. Throws like `admitSocket`, and quota_exceeded. */
  async function admit(request: IncomingMessage, address: string): Promise<Admission> {
    const admission = await admitSocket(context, request, address);
    live.requireRoom(admission);
    const { project } = await context.readSite();
    await store.quotas.checkSockets(project, live.count());
    return admission;
  }

  return { rooms, live, plain, io, admit };
}

type Servers = ReturnType<typeof openServers>;

/** An upgrade request, as Node.js emits it. */
type UpgradeArguments = [request: IncomingMessage, socket: Duplex, head: Buffer];

function refuse({ log }: WidgetContext, { plain }: Servers, upgrade: UpgradeArguments, error: unknown): void {
  const [request, socket] = upgrade;
  const end = error instanceof ServiceError ? REFUSALS[error.code] : undefined;
  if (end !== undefined && !isSocketIo(request)) {
    plain.refuse(...upgrade, { end, error });
    return;
  }
  if (!(error instanceof ServiceError)) log.error({ error }, "failed to open a socket");
  writeProblem(
    socket,
    error instanceof ServiceError
      ? error
      : new ServiceError("internal", "The service encountered an error. Try again."),
  );
}

/** Admits an upgrade and hands it to its server. Never rejects. */
async function upgradeSocket(
  context: WidgetContext,
  servers: Servers,
  app: Express,
  upgrade: UpgradeArguments,
): Promise<void> {
  const { live, plain, io, admit } = servers;
  const [request] = upgrade;
  // A connection of socket.io that upgrades from polling to a WebSocket was admitted when it was opened.
  if (isSocketIo(request) && queryOf(request).has("sid")) {
    io.handleUpgrade(...upgrade);
    return;
  }
  let admission: Admission;
  try {
    if (live.isClosed())
      throw new ServiceError("unavailable", "The server is shutting down.", { headers: { "Retry-After": "1" } });
    admission = await admit(request, upgradeAddress(app, request));
  } catch (error) {
    refuse(context, servers, upgrade, error);
    return;
  }
  if (!isSocketIo(request)) {
    plain.handleUpgrade(...upgrade, admission);
    return;
  }
  io.admit(request, admission);
  io.handleUpgrade(...upgrade);
}

/** Opens the sockets: no connection is accepted before `attach` and the handler are used. */
export function openSockets(context: WidgetContext): Sockets {
  const { log } = context;
  const servers = openServers(context);
  const { rooms, live, plain, io, admit } = servers;

  const unwatch = beforeScrape(() => {
    showCounts(plain.count(), live.count() - plain.count());
    return Promise.resolve();
  });
  const ticker = setInterval(() => {
    rooms.tick();
    live.check().catch((error: unknown) => log.debug({ error }, "failed to check open sockets; they stay open"));
  }, TICK_MS);
  ticker.unref();

  return {
    async handler(request, response) {
      const query = queryOf(request);
      // The ID of an admitted connection authenticates its requests.
      if (query.has("sid")) io.endRepeated(request, query);
      else if (query.has("EIO")) io.admit(request, await admit(request, clientAddress(request)));
      else throw new ServiceError("invalid_request", "This is a WebSocket endpoint: connect with ws:// or wss://.");
      io.handleRequest(request, response);
    },

    attach(server, app) {
      server.on("upgrade", (request, socket, head) => {
        socket.on("error", (error) => log.debug({ error }, "connection error during the WebSocket upgrade"));
        const [path = ""] = (request.url ?? "").split("?", 1);
        if (path !== SOCKET_PATH && path !== `${SOCKET_PATH}/`) {
          writeProblem(socket, new ServiceError("not_found", `There is no socket at this path; use ${SOCKET_PATH}.`));
          return;
        }
        void upgradeSocket(context, servers, app, [request, socket, head]);
      });
    },

    wake: (ticketIds) => rooms.wake(ticketIds),
    count: () => live.count(),

    async close() {
      clearInterval(ticker);
      plain.stopPings();
      rooms.close();
      unwatch();
      showCounts(0, 0);
      await live.endAll(END_MS);
      io.close();
      plain.close();
    },
  };
}

import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Duplex } from "node:stream";
import { ServiceError, WIDGET_LIMITS } from "@svc/contracts";
import { clientAddress, upgradeAddress, writeProblem } from "@svc/http";
import { beforeScrape, setGauge } from "@svc/telemetry";
import type { Express, RequestHandler } from "express";
import type { WidgetContext } from "../widget-context.ts";
import { createChatRooms } from "./chat-rooms.ts";
import type { CloseReason } from "./connection.ts";
import { createLiveSessions } from "./live-sessions.ts";
import { openPlainSockets } from "./open-plain-sockets.ts";
import { isSocketIo, openSocketIo } from "./open-socket-io.ts";
import { admitSocket, queryOf } from "./session.ts";
import type { Admission } from "./session.ts";

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

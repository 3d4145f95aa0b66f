import { createServer } from "node:http";
import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Duplex } from "node:stream";
import { ServiceError, VISITOR_FRAMES, WIDGET_LIMITS } from "@svc/contracts";
import { clientAddress, upgradeAddress, writeProblem } from "@svc/http";
import { beforeShown, setGauge } from "@svc/telemetry";
import type { Express, Request, RequestHandler } from "express";
import { Server } from "socket.io";
import type { Socket } from "socket.io";
import { WebSocketServer } from "ws";
import type { RawData } from "ws";
import { isWidgetKey, isOriginAllowed } from "../check-caller.ts";
import { isStillKnown } from "../find-visitor.ts";
import type { WidgetContext } from "../widget-context.ts";
import { createChatRooms } from "./chat-rooms.ts";
import { PlainSocket, closeSocket, plainLine, socketIoLine } from "./connection.ts";
import type { CloseReason } from "./connection.ts";
import { makeFrame, readFrame } from "./frames.ts";
import { handleFrame, isFaultOfService, sayHello, sendFault } from "./handle-frame.ts";
import type { FrameContext } from "./handle-frame.ts";
import { admitSocket, queryOf, createSession } from "./session.ts";
import type { Admission, Session } from "./session.ts";

/** Address of the socket, for socket.io and plain WebSockets alike. */
export const SOCKET_PATH = "/api/widget/ws";

const TICK_MS = 1_000;
const PING_MS = 25_000;
const PONG_MS = 20_000;
/** A line that has not said who it is by then is closed. */
const HELLO_MS = 30_000;
/** Frames of one line in a window: beyond the first number they are refused, beyond the second the line is closed. */
const FRAME_WINDOW_MS = 5_000;
const FRAMES_REFUSED = 100;
const FRAMES_CLOSED = 400;
/** Frames of one line that wait for the one before. */
const WAITING_FRAMES = 50;
/** A larger one is not even read to its end; one between the two limits is answered with the code of the contract. */
const RECEIVE_MAX_BYTES = 2 * WIDGET_LIMITS.frameMaxBytes;

/** When a client may try again that finds all sockets in use, in seconds. */
const FULL_RETRY_SECONDS = 30;

/** Which end a refusal before the upgrade is for a plain WebSocket. */
const REFUSALS: Readonly<Record<string, CloseReason>> = {
  missing_key: "badKey",
  invalid_key: "badKey",
  origin_not_allowed: "origin",
  rate_limited: "rate",
};

/** The sockets of this process. */
export interface Sockets {
  /** For the polling requests of socket.io. */
  handler: RequestHandler;
  /** Takes the upgrades of a server that listens. */
  attach(server: HttpServer, app: Express): void;
  wake(ticketIds: readonly string[]): void;
  /** How many lines are open. */
  count(): number;
  /** Ends every line so that its visitor comes again, to whichever replica is there. Resolves when all are gone. */
  close(): Promise<void>;
}

/** Opens the sockets: nothing is let in before `attach` and the handler. */
export function openSockets(context: WidgetContext): Sockets {
  const { log, readSite, store, ceilings } = context;
  const rooms = createChatRooms({ store, log });
  const frames: FrameContext = { ...context, rooms };
  const sessions = new Set<Session>();
  /** What was found out about requests of socket.io before they were handed to it. */
  const admissions = new WeakMap<IncomingMessage, Admission>();
  /** The name of the last poll of each connection over HTTP. */
  const polls = new WeakMap<object, string>();
  let isClosed = false;

  const plain = new WebSocketServer({
    noServer: true,
    WebSocket: PlainSocket,
    maxPayload: RECEIVE_MAX_BYTES,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const io = new Server({
    path: SOCKET_PATH,
    addTrailingSlash: false,
    serveClient: false,
    transports: ["websocket", "polling"],
    maxHttpBufferSize: RECEIVE_MAX_BYTES,
    perMessageDeflate: false,
    httpCompression: false,
    pingInterval: PING_MS,
    pingTimeout: PONG_MS,
    connectTimeout: HELLO_MS,
    destroyUpgrade: false,
  });
  // A server that never listens: requests are checked by us before socket.io gets them.
  io.attach(createServer());

  /**
   * Ends a connection whose poll comes a second time: clients name each anew (`t`), and browsers repeat a GET by themselves
   * when its connection was cut. What the first one was answered is lost then, and the line would go on as if it was not.
   * Its client comes again, and is sent what it missed.
   */
  function endRepeated(request: Request, query: URLSearchParams): void {
    const connections = (io.engine as unknown as { clients: Record<string, { close(isAtOnce: boolean): void }> })
      .clients;
    const sid = query.get("sid") ?? "";
    const connection = Object.hasOwn(connections, sid) ? connections[sid] : undefined;
    const name = query.get("t");
    if (request.method !== "GET" || connection === undefined || name === null) return;
    if (polls.get(connection) === name) connection.close(true);
    polls.set(connection, name);
  }

  const unwatch = beforeShown(() => {
    showCounts(plainSockets.size, sessions.size - plainSockets.size);
    return Promise.resolve();
  });

  function showCounts(websocket: number, socketio: number): void {
    setGauge("svc_sockets", { transport: "websocket" }, websocket);
    setGauge("svc_sockets", { transport: "socketio" }, socketio);
  }

  /** Checks a socket that is to be opened, and that there is room for it. Throws as `admitSocket`. */
  async function admit(request: IncomingMessage, address: string): Promise<Admission> {
    const admission = await admitSocket(context, request, address);
    let ofAddress = 0;
    for (const { admission: other } of sessions) {
      if (other.address === address && other.key === admission.key) ofAddress++;
    }
    const isFull = sessions.size >= ceilings.sockets;
    if (!isFull && ofAddress < ceilings.socketsPerAddress) return admission;
    throw new ServiceError(
      "rate_limited",
      isFull
        ? "This server has reached its limit of open sockets. Try again later."
        : `This IP address has ${ofAddress} open sockets, which is the limit. Close some of them.`,
      { headers: { "Retry-After": String(FULL_RETRY_SECONDS) } },
    );
  }

  function open(session: Session): void {
    sessions.add(session);
    if (isClosed) session.line.end("restart");
  }

  function forget(session: Session): void {
    sessions.delete(session);
    rooms.leave(session);
  }

  /** Counts a frame; false when it is one too many. */
  function countFrame(session: Session): boolean {
    const now = performance.now();
    if (now >= session.windowEndsAt) {
      session.windowEndsAt = now + FRAME_WINDOW_MS;
      session.frames = 0;
    }
    session.frames++;
    if (session.frames > FRAMES_CLOSED) session.line.end("rate");
    return session.frames <= FRAMES_REFUSED && session.waitingFrames < WAITING_FRAMES;
  }

  /** Does what was sent, after what the line has sent before. */
  function take(session: Session, sent: unknown): void {
    if (!session.line.isOpen()) return;
    const isInTime = countFrame(session);
    const read = readFrame(sent);
    if ("fault" in read) {
      session.line.send(makeFrame("error", read.fault));
    } else if (isInTime) {
      enqueue(session, () => handleFrame(frames, session, read.frame));
    } else {
      const error = new ServiceError("rate_limited", "Too many frames at once; this one was rejected.", {
        headers: { "Retry-After": String(FRAME_WINDOW_MS / 1_000) },
      });
      const { frame } = read;
      sendFault(context, session, error, frame.type === "message" ? frame.data.clientMessageId : null);
    }
  }

  function enqueue(session: Session, work: () => Promise<void>): void {
    session.waitingFrames++;
    session.work = session.work.then(work).finally(() => {
      session.waitingFrames--;
    });
  }

  /** Says hello for a line whose visitor is in its address or in socket.io's auth payload. */
  function greet(session: Session, hello: unknown): void {
    const read = readFrame({ type: "hello", data: hello });
    if ("fault" in read) {
      session.line.send(makeFrame("error", read.fault));
      return;
    }
    enqueue(session, () => handleFrame(frames, session, read.frame));
  }

  /** A line that was opened by the documented address is sent what is new from now on, until it says hello itself. */
  function greetByAddress(session: Session, visitorId: string): void {
    const read = readFrame({ type: "hello", data: { visitorId } });
    if ("fault" in read || read.frame.type !== "hello") {
      const fault = "fault" in read ? read.fault : null;
      if (fault !== null) session.line.send(makeFrame("error", fault));
      return;
    }
    const hello = { ...read.frame.data, sinceSeq: Number.POSITIVE_INFINITY };
    enqueue(session, () =>
      sayHello(frames, session, hello).catch((error: unknown) => {
        sendFault(context, session, error, null);
        if (isFaultOfService(error)) session.line.end("restart");
      }),
    );
  }

  io.on("connection", (socket: Socket) => {
    const admission = admissions.get(socket.request);
    if (admission === undefined) {
      socket.disconnect(true);
      return;
    }
    // One line for each connection: what is let in once must not open any number of them.
    admissions.delete(socket.request);
    const session = createSession(socketIoLine(socket), admission);
    open(session);
    // socket.io says "disconnect" once for each socket, whoever ended it.
    socket.once("disconnect", () => forget(session));
    socket.onAny((type: string, frame: unknown) => {
      if (ArrayBuffer.isView(frame)) {
        session.line.end("badFrame");
        return;
      }
      const isFrame = typeof frame === "object" && frame !== null && !Array.isArray(frame);
      // The event's name is the type: what a frame says of it besides must not be another one.
      take(session, Object.hasOwn(VISITOR_FRAMES, type) && isFrame ? { ...frame, type } : { type });
    });
    const auth = socket.handshake.auth;
    const { visitorId: named } = socket.handshake.query;
    if (typeof auth["visitorId"] === "string" && auth["sinceSeq"] !== undefined) greet(session, auth);
    else {
      const visitorId = auth["visitorId"] ?? named;
      if (typeof visitorId === "string") greetByAddress(session, visitorId);
    }
  });

  /** Plain WebSockets that have answered the last ping. */
  const alive = new WeakSet<PlainSocket>();
  const plainSockets = new Set<PlainSocket>();

  function takePlain(socket: PlainSocket, request: IncomingMessage, admission: Admission): void {
    const session = createSession(plainLine(socket), admission);
    open(session);
    plainSockets.add(socket);
    alive.add(socket);
    socket.on("pong", () => alive.add(socket));
    socket.on("close", () => {
      plainSockets.delete(socket);
      forget(session);
    });
    socket.on("message", (data: RawData, isBinary: boolean) => {
      alive.add(socket);
      const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
      if (isBinary || bytes.length > WIDGET_LIMITS.frameMaxBytes) {
        session.line.end("badFrame");
        return;
      }
      let sent: unknown;
      try {
        sent = JSON.parse(bytes.toString("utf8"));
      } catch {
        // What is no JSON is no frame: there is nothing that an answer could be about.
        session.line.end("badFrame");
        return;
      }
      take(session, sent);
    });
    const visitorId = queryOf(request).get("visitorId");
    if (visitorId !== null) greetByAddress(session, visitorId);
  }

  function refuse(request: IncomingMessage, socket: Duplex, head: Buffer, error: unknown): void {
    const end = error instanceof ServiceError ? REFUSALS[error.code] : undefined;
    // A plain WebSocket in a browser cannot see the status of a handshake that was refused, only the code of a close:
    // so it is opened to be closed at once, before anything was read from it or told to it.
    if (end !== undefined && !queryOf(request).has("EIO")) {
      plain.handleUpgrade(request, socket, head, (refused) => {
        refused.on("error", () => refused.terminate());
        closeSocket(refused, end, error instanceof ServiceError ? error.code : end);
      });
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

  async function upgrade(app: Express, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const query = queryOf(request);
    // A connection of socket.io that changes from polling to a WebSocket was admitted when it began.
    if (query.has("EIO") && query.has("sid")) {
      io.engine.handleUpgrade(request, socket, head);
      return;
    }
    let admission: Admission;
    try {
      if (isClosed)
        throw new ServiceError("unavailable", "The server is shutting down.", { headers: { "Retry-After": "1" } });
      admission = await admit(request, upgradeAddress(app, request));
    } catch (error) {
      refuse(request, socket, head, error);
      return;
    }
    if (query.has("EIO")) {
      admissions.set(request, admission);
      io.engine.handleUpgrade(request, socket, head);
      return;
    }
    plain.handleUpgrade(request, socket, head, (opened) => {
      // Of a frame that breaks the protocol, or is too large: the library closes the socket after it.
      opened.on("error", (error) => log.debug({ error }, "WebSocket error"));
      takePlain(opened, request, admission);
    });
  }

  /** Closes what the settings do not allow any more, and whoever has not said who it is. */
  async function checkSessions(): Promise<void> {
    const site = await readSite();
    const { settings } = site;
    const now = performance.now();
    for (const session of sessions) {
      const { admission, visitor, line } = session;
      if (!isWidgetKey(settings, admission.key)) line.end("badKey");
      else if (!isOriginAllowed(admission.origin, settings.allowedOrigins)) line.end("origin");
      else if (visitor !== null && !isStillKnown(visitor, site)) line.end("restart");
      else if (visitor === null && now - session.openedAt > HELLO_MS) line.end("silent");
    }
  }

  const ticker = setInterval(() => {
    rooms.tick();
    if (sessions.size === 0) return;
    checkSessions().catch((error: unknown) => log.debug({ error }, "failed to check open sockets; they stay open"));
  }, TICK_MS);
  ticker.unref();
  const pinger = setInterval(() => {
    for (const socket of plainSockets) {
      if (!alive.delete(socket)) socket.terminate();
      else socket.ping();
    }
  }, PING_MS);
  pinger.unref();

  return {
    async handler(request: Request, response) {
      const query = queryOf(request);
      // A request of a connection that was admitted; the name of the connection is its proof.
      if (query.has("sid")) {
        endRepeated(request, query);
      } else {
        if (!query.has("EIO")) {
          throw new ServiceError("invalid_request", "This is a WebSocket endpoint: connect with ws:// or wss://.");
        }
        admissions.set(request, await admit(request, clientAddress(request)));
      }
      io.engine.handleRequest(request as never, response);
    },

    attach(server, app) {
      server.on("upgrade", (request, socket, head) => {
        socket.on("error", (error) => log.debug({ error }, "connection error during the WebSocket upgrade"));
        const [path = ""] = (request.url ?? "").split("?", 1);
        if (path !== SOCKET_PATH && path !== `${SOCKET_PATH}/`) {
          writeProblem(socket, new ServiceError("not_found", `There is no socket at this path; use ${SOCKET_PATH}.`));
          return;
        }
        void upgrade(app, request, socket, head);
      });
    },

    wake: (ticketIds) => rooms.wake(ticketIds),
    count: () => sessions.size,

    async close() {
      isClosed = true;
      clearInterval(ticker);
      clearInterval(pinger);
      rooms.close();
      unwatch();
      showCounts(0, 0);
      for (const session of sessions) session.line.end("restart");
      const ended = Promise.allSettled([...sessions].map(({ work }) => work));
      // Messages that were taken are acknowledged in the store; whoever did not hear it sends them again.
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, PONG_MS / 20).unref())]);
      for (const socket of plainSockets) socket.terminate();
      io.engine.close();
      io.removeAllListeners();
      plain.close();
    },
  };
}

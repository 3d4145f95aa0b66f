import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { VISITOR_FRAMES } from "@svc/contracts";
import type { Request, Response } from "express";
import { Server } from "socket.io";
import type { Socket } from "socket.io";
import { socketIoConnection } from "./connection.ts";
import { enqueueFrame, greet, greetByAddress } from "./handle-frame.ts";
import type { FrameContext } from "./handle-frame.ts";
import { createSession, queryOf } from "./session.ts";
import type { Admission } from "./session.ts";
import type { LiveSessions } from "./live-sessions.ts";

/** Settings that both kinds of sockets share. */
interface SocketIoOptions {
  path: string;
  receiveMaxBytes: number;
  pingMs: number;
  pongMs: number;
  helloMs: number;
}

/** Handles the frames of a socket that was admitted. */
function takeSocket(context: FrameContext, live: LiveSessions, socket: Socket, admission: Admission): void {
  const session = createSession(socketIoConnection(socket), admission);
  live.add(session);
  // socket.io emits "disconnect" once for each socket, however it ended.
  socket.once("disconnect", () => live.remove(session));
  socket.onAny((type: string, frame: unknown) => {
    if (ArrayBuffer.isView(frame)) {
      session.line.end("badFrame");
      return;
    }
    const isFrame = typeof frame === "object" && frame !== null && !Array.isArray(frame);
    // The event's name is the type: the frame itself must not contain another one.
    enqueueFrame(context, session, Object.hasOwn(VISITOR_FRAMES, type) && isFrame ? { ...frame, type } : { type });
  });
  const auth = socket.handshake.auth;
  const { visitorId: named } = socket.handshake.query;
  if (typeof auth["visitorId"] === "string" && auth["sinceSeq"] !== undefined) greet(context, session, auth);
  else {
    const visitorId = auth["visitorId"] ?? named;
    if (typeof visitorId === "string") greetByAddress(context, session, visitorId);
  }
}

/** Opens the sockets of socket.io, over HTTP and WebSocket. Requests are handed to it after they were admitted. */
export function openSocketIo(
  context: FrameContext,
  live: LiveSessions,
  { path, receiveMaxBytes, pingMs, pongMs, helloMs }: SocketIoOptions,
) {
  /** Admissions of requests that were handed to socket.io. */
  const admissions = new WeakMap<IncomingMessage, Admission>();
  /** The name of the last poll of each connection over HTTP. */
  const polls = new WeakMap<object, string>();
  const io = new Server({
    path,
    addTrailingSlash: false,
    serveClient: false,
    transports: ["websocket", "polling"],
    maxHttpBufferSize: receiveMaxBytes,
    perMessageDeflate: false,
    httpCompression: false,
    pingInterval: pingMs,
    pingTimeout: pongMs,
    connectTimeout: helloMs,
    destroyUpgrade: false,
  });
  // A server that never listens: requests are admitted before socket.io gets them.
  io.attach(createServer());
  io.on("connection", (socket: Socket) => {
    const admission = admissions.get(socket.request);
    // One connection for each admission.
    admissions.delete(socket.request);
    if (admission === undefined) socket.disconnect(true);
    else takeSocket(context, live, socket, admission);
  });

  return {
    /**
     * Closes a connection whose poll arrives a second time: clients give each a new name (`t`), and browsers repeat a
     * GET by themselves if its connection dropped. The response to the first one is lost then. The client reconnects,
     * and gets what it missed.
     */
    endRepeated(request: Request, query: URLSearchParams): void {
      const connections = (io.engine as unknown as { clients: Record<string, { close(isAtOnce: boolean): void }> })
        .clients;
      const sid = query.get("sid") ?? "";
      const connection = Object.hasOwn(connections, sid) ? connections[sid] : undefined;
      const name = query.get("t");
      if (request.method !== "GET" || connection === undefined || name === null) return;
      if (polls.get(connection) === name) connection.close(true);
      polls.set(connection, name);
    },
    /** Records that a request was admitted. */
    admit: (request: IncomingMessage, admission: Admission) => void admissions.set(request, admission),
    handleRequest: (request: Request, response: Response) => io.engine.handleRequest(request as never, response),
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
      io.engine.handleUpgrade(request, socket, head);
    },
    close() {
      io.engine.close();
      io.removeAllListeners();
    },
  };
}

/** True for a request of socket.io; a plain WebSocket has no such parameter. */
export const isSocketIo = (request: IncomingMessage): boolean => queryOf(request).has("EIO");

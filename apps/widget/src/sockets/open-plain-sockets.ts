import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ServiceError, WIDGET_LIMITS } from "@svc/contracts";
import type { Log } from "@svc/log";
import { WebSocketServer } from "ws";
import type { RawData } from "ws";
import { PlainSocket, closeSocket, plainConnection } from "./connection.ts";
import type { CloseReason } from "./connection.ts";
import { enqueueFrame, greetByAddress } from "./handle-frame.ts";
import type { FrameContext } from "./handle-frame.ts";
import type { LiveSessions } from "./live-sessions.ts";
import { createSession, queryOf } from "./session.ts";
import type { Admission, Session } from "./session.ts";

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
export function openPlainSockets(
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

import { randomUUID } from "node:crypto";
import { SERVER_FRAMES } from "@svc/contracts";
import type { ServerFrame, ServerFrameType } from "@svc/contracts";
import { waitFor } from "@svc/testing";
import { io } from "socket.io-client";
import { WebSocket } from "ws";

type FrameOf<Type extends ServerFrameType> = Extract<ServerFrame, { type: Type }>;

/** A visitor's connection in a test. */
export interface VisitorSocket {
  /** The received frames, oldest first. */
  readonly frames: ServerFrame[];
  send(type: string, data: unknown): void;
  /** Returns the first matching frame of a type, received or awaited. */
  next<Type extends ServerFrameType>(type: Type, fits?: (frame: FrameOf<Type>) => boolean): Promise<FrameOf<Type>>;
  /** Drops the connection without a closing handshake. */
  cut(): void;
  close(): void;
  /** For a plain WebSocket: the close code, once it is closed. */
  closed: Promise<number>;
  isOpen(): boolean;
}

/** A connection of socket.io's client. */
export interface IoSocket extends VisitorSocket {
  /** Error of a rejected connection. */
  fault: Promise<Error>;
  /** Sends an event with arbitrary values. */
  sendRaw(event: string, ...values: unknown[]): void;
}

/** Identity of a visitor, and connection options. */
export interface VisitorOptions {
  apiKey: string;
  origin?: string;
  /** Further headers of the handshake. */
  headers?: Record<string, string>;
  /** In the URL, as in the service specification. */
  visitorId?: string;
  /** In socket.io's auth payload. */
  auth?: Record<string, unknown>;
  transports?: ("websocket" | "polling")[];
}

const addressOf = (url: string, { apiKey, visitorId }: VisitorOptions) => {
  const query = new URLSearchParams({ apiKey, ...(visitorId === undefined ? {} : { visitorId }) });
  return `${url}/api/widget/ws?${query.toString()}`;
};

const headersOf = ({ origin, headers }: VisitorOptions) => ({
  ...headers,
  ...(origin === undefined ? {} : { origin }),
});

/** Collects frames as they arrive; each is validated against its schema. */
function createFrames() {
  const frames: ServerFrame[] = [];
  const take = (frame: ServerFrame) => {
    SERVER_FRAMES[frame.type].parse(frame.data);
    frames.push(frame);
  };
  const next = <Type extends ServerFrameType>(type: Type, fits: (frame: FrameOf<Type>) => boolean = () => true) => {
    const isWanted = (frame: ServerFrame): frame is FrameOf<Type> =>
      frame.type === type && fits(frame as FrameOf<Type>);
    return waitFor(() => frames.find(isWanted), {
      what: () => `a frame ${type}; there are ${JSON.stringify(frames).slice(-2_000)}`,
    });
  };
  return { frames, take, next };
}

/** Opens a plain WebSocket; resolves immediately, even if it is rejected. */
export function openPlainSocket(url: string, options: VisitorOptions): VisitorSocket {
  const socket = new WebSocket(addressOf(url, options).replace(/^http/, "ws"), { headers: headersOf(options) });
  const { frames, take, next } = createFrames();
  const waiting: string[] = [];
  socket.on("open", () => {
    for (const text of waiting.splice(0)) socket.send(text);
  });
  socket.on("message", (data: Buffer) => take(JSON.parse(data.toString("utf8")) as ServerFrame));
  const closed = new Promise<number>((resolve) => {
    socket.on("close", (code) => resolve(code));
  });
  // A close event with its code follows.
  socket.on("error", () => undefined);
  return {
    frames,
    next,
    closed,
    send(type, data) {
      const text = JSON.stringify({ v: 1, type, id: randomUUID(), data });
      if (socket.readyState === socket.OPEN) socket.send(text);
      else waiting.push(text);
    },
    cut: () => socket.terminate(),
    close: () => socket.close(),
    isOpen: () => socket.readyState === socket.OPEN,
  };
}

/** Opens a connection of socket.io's own client. It does not reconnect by itself. */
export function openIoSocket(url: string, options: VisitorOptions): IoSocket {
  const { apiKey, visitorId, auth, transports } = options;
  const socket = io(url, {
    path: "/api/widget/ws",
    query: { apiKey, ...(visitorId === undefined ? {} : { visitorId }) },
    ...(auth === undefined ? {} : { auth }),
    ...(transports === undefined ? {} : { transports }),
    extraHeaders: headersOf(options),
    reconnection: false,
    forceNew: true,
  });
  const { frames, take, next } = createFrames();
  socket.onAny((_type: string, frame: ServerFrame) => take(frame));
  const closed = new Promise<number>((resolve) => {
    socket.on("disconnect", () => resolve(0));
  });
  const error = new Promise<Error>((resolve) => {
    socket.on("connect_error", resolve);
  });
  return {
    frames,
    next,
    closed,
    fault: error,
    sendRaw: (event, ...values) => socket.emit(event, ...values),
    send: (type, data) => socket.emit(type, { v: 1, type, id: randomUUID(), data }),
    cut: () => socket.io.engine.close(),
    close: () => socket.disconnect(),
    isOpen: () => socket.connected,
  };
}

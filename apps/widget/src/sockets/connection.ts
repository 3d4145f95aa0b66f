import type { Socket } from "socket.io";
import { WebSocket } from "ws";
import {
  clientMessageIdSchema,
  describeIssue,
  VISITOR_FRAMES,
  WIDGET_CLOSE_CODES,
  WIDGET_FRAME_VERSION,
} from "@svc/contracts";
import type { ServerFrame, ServerFrameData, ServerFrameType, VisitorFrameData, VisitorFrameType } from "@svc/contracts";
import { isRecord } from "@svc/primitives";
import { newId } from "@svc/store";

/** Returns a frame for a visitor. One outside the sequence has `seq` 0, and one without an id gets a new one. */
export function makeFrame<Type extends ServerFrameType>(
  type: Type,
  data: ServerFrameData<Type>,
  { id = newId(), seq = 0 }: { id?: string; seq?: number } = {},
): ServerFrame {
  // Type and data belong together according to the signature, which a union cannot express.
  return { v: WIDGET_FRAME_VERSION, type, id, seq, ts: new Date().toISOString(), data } as ServerFrame;
}

/** A frame of a visitor that has passed its schema. */
export type VisitorFrame = {
  [Type in VisitorFrameType]: { type: Type; data: VisitorFrameData<Type> };
}[VisitorFrameType];

/** Error of a frame: a code and an explanation for its sender. */
interface FrameError {
  code: "invalid_request";
  detail: string;
  /** Id of the message that the frame contained; null for other frames. */
  clientMessageId: string | null;
}

function error(detail: string, data?: unknown): { error: FrameError } {
  const id = clientMessageIdSchema.safeParse(isRecord(data) ? data["clientMessageId"] : null);
  return { error: { code: "invalid_request", detail, clientMessageId: id.success ? id.data : null } };
}

function isVisitorType(type: unknown): type is VisitorFrameType {
  return typeof type === "string" && Object.hasOwn(VISITOR_FRAMES, type);
}

/** Parses untrusted data of a visitor. Unknown fields are ignored. Never throws. */
export function readFrame(sent: unknown): { frame: VisitorFrame } | { error: FrameError } {
  if (!isRecord(sent)) return error("A frame must be a JSON object with type and data.");
  const { v = WIDGET_FRAME_VERSION, type, data = {} } = sent;
  if (v !== WIDGET_FRAME_VERSION)
    return error(`This server supports version ${WIDGET_FRAME_VERSION} of the frame protocol.`);
  if (!isVisitorType(type)) {
    return error(`Unknown frame type. Known types: ${Object.keys(VISITOR_FRAMES).join(", ")}.`);
  }
  const parsed = VISITOR_FRAMES[type].safeParse(data);
  if (parsed.success) return { frame: { type, data: parsed.data } as VisitorFrame };
  const [issue] = parsed.error.issues;
  if (issue === undefined) return error("The frame is not valid.", data);
  const pointer = ["", "data", ...issue.path].map(String).join("/");
  return error(`The frame is not valid: ${pointer} ${describeIssue(issue).detail}.`, data);
}

/** Reason for which the server closes a connection. */
export type CloseReason = "badFrame" | "badKey" | "origin" | "rate" | "silent" | "slow" | "restart";

/** A visitor's connection, of socket.io or a plain WebSocket. */
export interface VisitorConnection {
  send(frame: ServerFrame): void;
  /** Number of sent bytes that are buffered in this process, because the client is slow. */
  waitingBytes(): number;
  /** Sequence number up to which the client has proved to have everything; set by responses to `probe`. */
  reachedSeq: number;
  /** Requests proof that the client has everything up to this sequence number. */
  probe(seq: number): void;
  /** Safe to call twice. */
  end(why: CloseReason): void;
  isOpen(): boolean;
}

/**
 * Close codes of a plain WebSocket: those of the contract, and RFC 6455's for reasons without an error of the client.
 */
const CLOSE_CODES: Readonly<Record<CloseReason, number>> = {
  badFrame: WIDGET_CLOSE_CODES.badFrame,
  badKey: WIDGET_CLOSE_CODES.badKey,
  origin: WIDGET_CLOSE_CODES.origin,
  rate: WIDGET_CLOSE_CODES.rate,
  silent: WIDGET_CLOSE_CODES.badFrame,
  // 1013: try again later.
  slow: 1013,
  // 1012: the server restarts.
  restart: 1012,
};

/** Time for a client to respond to a close before it is disconnected. */
const CLOSE_MS = 1_000;

/**
 * Codes with which the library closes a connection for a frame that violates the protocol, is invalid UTF-8, or is too
 * large (RFC 6455).
 */
const FRAME_ERRORS = new Set([1002, 1007, 1009]);

/** A plain WebSocket of the server. If the library closes it for an invalid frame, it has the contract's code. */
export class PlainSocket extends WebSocket {
  override close(code?: number, data?: string | Buffer): void {
    super.close(code !== undefined && FRAME_ERRORS.has(code) ? CLOSE_CODES.badFrame : code, data);
  }
}

/** Closes a plain WebSocket, and terminates it if the other side does not close it too. */
export function closeSocket(socket: WebSocket, why: CloseReason, text: string = why): void {
  if (socket.readyState !== socket.OPEN) return;
  socket.close(CLOSE_CODES[why], text);
  const timer = setTimeout(() => socket.terminate(), CLOSE_MS);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
}

/** Returns the connection of a plain WebSocket. */
export function plainConnection(socket: WebSocket): VisitorConnection {
  const line: VisitorConnection = {
    send(frame) {
      // A connection that drops during a send is closed by the library; lost frames are sent over the next one.
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame), () => undefined);
    },
    waitingBytes: () => socket.bufferedAmount,
    reachedSeq: 0,
    probe: (seq) => socket.ping(String(seq)),
    end(why) {
      if (why === "slow") socket.terminate();
      else closeSocket(socket, why);
    },
    isOpen: () => socket.readyState === socket.OPEN,
  };
  // A pong has the text of its ping; those of the pinger have none.
  socket.on("pong", (seq) => {
    line.reachedSeq = Math.max(line.reachedSeq, Number(seq.toString()) || 0);
  });
  return line;
}

/**
 * Whether a reason is permanent: socket.io's client does not reconnect after a `disconnect` packet. After a closed
 * transport it does, and gets what it missed.
 */
const FINAL: Readonly<Record<CloseReason, boolean>> = {
  badFrame: true,
  badKey: true,
  origin: true,
  rate: true,
  silent: true,
  slow: false,
  restart: false,
};

/** Error that a visitor gets before its connection closes; none if it should simply reconnect. */
const LAST_WORDS: Partial<Record<CloseReason, { code: string; detail: string }>> = {
  badFrame: { code: "invalid_request", detail: "The data is not a valid frame." },
  badKey: { code: "invalid_key", detail: "The widget's key has changed." },
  origin: { code: "origin_not_allowed", detail: "This website is no longer allowed to use the widget." },
  rate: { code: "rate_limited", detail: "Too many frames." },
};

/** The used part of engine.io's state of a connection. */
interface EngineConnection extends NodeJS.EventEmitter {
  sendPacket(type: "ping"): void;
  writeBuffer: readonly { data?: unknown }[];
  transport: { socket?: { bufferedAmount?: number } };
}

const sizeOf = (data: unknown) => (typeof data === "string" || Buffer.isBuffer(data) ? data.length : 0);

/** Returns the connection of a socket.io socket. */
export function socketIoConnection(socket: Socket): VisitorConnection {
  const connection = socket.conn as unknown as EngineConnection;
  /**
   * Sequence number that each unanswered ping proves; those of engine.io prove nothing. Pongs arrive in the order of
   * their pings.
   */
  const probes: number[] = [];
  let probedSeq = 0;
  const line: VisitorConnection = {
    send(frame) {
      if (socket.connected) socket.emit(frame.type, frame);
    },
    reachedSeq: 0,
    probe(seq) {
      probedSeq = seq;
      connection.sendPacket("ping");
      probedSeq = 0;
    },
    waitingBytes() {
      const { writeBuffer, transport } = connection;
      const unsent = writeBuffer.reduce((bytes, { data }) => bytes + sizeOf(data), 0);
      return unsent + (transport.socket?.bufferedAmount ?? 0);
    },
    end(why) {
      const words = LAST_WORDS[why];
      if (words !== undefined && socket.connected) {
        socket.emit("error", makeFrame("error", { ...words, clientMessageId: null }));
      }
      if (FINAL[why]) socket.disconnect(true);
      // Without the packet, and for a slow client without the buffered data.
      else socket.conn.close(why === "slow");
    },
    isOpen: () => socket.connected,
  };
  connection.on("packetCreate", ({ type }: { type: string }) => {
    if (type === "ping") probes.push(probedSeq);
  });
  connection.on("heartbeat", () => {
    line.reachedSeq = Math.max(line.reachedSeq, probes.shift() ?? 0);
  });
  return line;
}

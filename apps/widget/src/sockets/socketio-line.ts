import { makeFrame } from "./make-frame.ts";
import type { Line, LineEnd } from "./line.ts";
import type { Socket } from "socket.io";

/**
 * Ends that are for good: socket.io's client does not come again by itself after a `disconnect` packet. After a transport
 * that was closed it does, and is sent what it missed.
 */
const FINAL: Readonly<Record<LineEnd, boolean>> = {
  badFrame: true,
  badKey: true,
  origin: true,
  rate: true,
  silent: true,
  slow: false,
  restart: false,
};

/** What a visitor is told before its line ends; nothing where it simply comes again. */
const LAST_WORDS: Partial<Record<LineEnd, { code: string; detail: string }>> = {
  badFrame: { code: "invalid_request", detail: "The data is not a valid frame." },
  badKey: { code: "invalid_key", detail: "The widget's key has changed." },
  origin: { code: "origin_not_allowed", detail: "This website is no longer allowed to use the widget." },
  rate: { code: "rate_limited", detail: "Too many frames." },
};

/** What engine.io keeps of a connection, as far as it is looked into here. */
interface EngineConnection {
  writeBuffer: readonly { data?: unknown }[];
  transport: { socket?: { bufferedAmount?: number } };
}

const sizeOf = (data: unknown) => (typeof data === "string" || Buffer.isBuffer(data) ? data.length : 0);

/** A line of socket.io. */
export function socketIoLine(socket: Socket): Line {
  return {
    send(frame) {
      if (socket.connected) socket.emit(frame.type, frame);
    },
    waitingBytes() {
      const { writeBuffer, transport } = socket.conn as unknown as EngineConnection;
      const unsent = writeBuffer.reduce((bytes, { data }) => bytes + sizeOf(data), 0);
      return unsent + (transport.socket?.bufferedAmount ?? 0);
    },
    end(why) {
      const words = LAST_WORDS[why];
      if (words !== undefined && socket.connected) {
        socket.emit("error", makeFrame("error", { ...words, clientMessageId: null }));
      }
      if (FINAL[why]) socket.disconnect(true);
      // Without the packet, but with what a slow reader has not taken thrown away.
      else socket.conn.close(why === "slow");
    },
    isOpen: () => socket.connected,
  };
}

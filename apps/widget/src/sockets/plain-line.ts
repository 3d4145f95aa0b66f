import { WIDGET_CLOSE_CODES } from "@svc/contracts";
import { WebSocket } from "ws";
import type { Line, LineEnd } from "./line.ts";

/** Close codes of a plain WebSocket: those of the contract, and RFC 6455's for what is nobody's fault. */
const CLOSE_CODES: Readonly<Record<LineEnd, number>> = {
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

/** A reader that does not answer a close within this time is cut off. */
const CLOSE_MS = 1_000;

/** Codes with which the library closes for a frame that breaks the protocol, is no UTF-8, or is too large (RFC 6455). */
const FRAME_FAULTS = new Set([1002, 1007, 1009]);

/** A plain WebSocket of the server. What the library closes for a bad frame has the contract's code for it. */
export class PlainSocket extends WebSocket {
  override close(code?: number, data?: string | Buffer): void {
    super.close(code !== undefined && FRAME_FAULTS.has(code) ? CLOSE_CODES.badFrame : code, data);
  }
}

/** Closes a plain WebSocket, and cuts it when the other end does not close it too. */
export function closeSocket(socket: WebSocket, why: LineEnd, text: string = why): void {
  if (socket.readyState !== socket.OPEN) return;
  socket.close(CLOSE_CODES[why], text);
  const timer = setTimeout(() => socket.terminate(), CLOSE_MS);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
}

/** A line of a plain WebSocket. */
export function plainLine(socket: WebSocket): Line {
  return {
    send(frame) {
      // A line that breaks while something is sent is closed by the library; what it lost is sent to the next one.
      if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(frame), () => undefined);
    },
    waitingBytes: () => socket.bufferedAmount,
    end(why) {
      if (why === "slow") socket.terminate();
      else closeSocket(socket, why);
    },
    isOpen: () => socket.readyState === socket.OPEN,
  };
}

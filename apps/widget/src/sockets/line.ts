import type { ServerFrame } from "@svc/contracts";

/** Why the server ends a line. */
export type LineEnd = "badFrame" | "badKey" | "origin" | "rate" | "silent" | "slow" | "restart";

/** A visitor's connection, of socket.io or a plain WebSocket. */
export interface Line {
  send(frame: ServerFrame): void;
  /** Bytes that were sent and lie in this process, because their reader is slow. */
  waitingBytes(): number;
  /** Safe to call twice. */
  end(why: LineEnd): void;
  isOpen(): boolean;
}

import type { Line } from "./open-line.ts";
import type { Outbox } from "./outbox.ts";

/** Sends what is in an outbox: one message after the other, each until the server says that it has it. */
export interface Sender {
  /** Sends the next message, where none is under way and the line is up. */
  flush: () => void;
  /** The server has this message, which leaves the outbox. True when it was this tab that waited for it. */
  settle: (key: string) => boolean;
  /** The server has refused this message: for good with `fault`, or until `retryAfterSeconds` are over. */
  refuse: (key: string, fault: string, retryAfterSeconds?: number) => void;
  /** The line is away: what was under way is sent again when it is back. */
  hold: () => void;
}

const ACK_TIMEOUT_MS = 10_000;
/** Tries of one message over lines that were up, after which it has failed. */
const MOST_TRIES = 5;

/** A sender that has nothing under way yet. `onFailed` is told the name of the string that says why. */
export function createSender(
  line: Pick<Line, "isOnline" | "send" | "restart">,
  outbox: Pick<Outbox, "list" | "put" | "remove">,
  onFailed: (key: string, fault: string) => void,
): Sender {
  /** The message that waits for its `ack`. */
  let underWay: string | null = null;
  let tries = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function hold(): void {
    clearTimeout(timer);
    underWay = null;
  }

  function settle(key: string): boolean {
    outbox.remove(key);
    if (underWay !== key) return false;
    hold();
    tries = 0;
    return true;
  }

  function flush(): void {
    if (underWay !== null || !line.isOnline()) return;
    const next = outbox.list().find(({ fault }) => fault === null);
    if (next === undefined) return;
    const key = next.message.clientMessageId;
    underWay = key;
    line.send("message", next.message);
    timer = setTimeout(() => {
      // Nothing came back over a line that seemed to be up: another line may do better, and the id makes it one message.
      if (++tries >= MOST_TRIES) fail(key, "faultOther");
      else line.restart();
    }, ACK_TIMEOUT_MS);
  }

  function fail(key: string, fault: string): void {
    const item = outbox.list().find(({ message }) => message.clientMessageId === key);
    settle(key);
    if (item !== undefined) outbox.put({ ...item, fault });
    onFailed(key, fault);
    flush();
  }

  return {
    flush,
    settle,
    refuse(key, fault, retryAfterSeconds) {
      if (key !== underWay) return;
      if (retryAfterSeconds === undefined) return fail(key, fault);
      // Nothing is wrong with the message: it goes again, before those after it.
      clearTimeout(timer);
      timer = setTimeout(() => {
        hold();
        flush();
      }, retryAfterSeconds * 1_000);
    },
    hold,
  };
}

import type { ServerConnection } from "./open-connection.ts";

/** Tells the server that the visitor is writing. */
export interface TypingNotes {
  /** The visitor writes; called as often as is convenient. */
  note: () => void;
  /** The visitor has stopped. */
  end: () => void;
}

const EVERY_MS = 3_000;
const ENDS_AFTER_MS = 5_000;

/** Notes that go over `line`, seldom enough to be no burden. */
export function createTypingNotes(line: Pick<ServerConnection, "send">): TypingNotes {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let toldAt = 0;

  function end(): void {
    clearTimeout(timer);
    if (toldAt > 0) line.send("typing", { on: false });
    toldAt = 0;
  }

  return {
    note() {
      clearTimeout(timer);
      timer = setTimeout(end, ENDS_AFTER_MS);
      if (Date.now() - toldAt >= EVERY_MS && line.send("typing", { on: true })) toldAt = Date.now();
    },
    end,
  };
}

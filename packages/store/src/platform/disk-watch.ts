import { errorCode } from "@svc/primitives";

/** What PostgreSQL says when it cannot write: disk_full and io_error. */
const CANNOT_WRITE = new Set(["53100", "58030"]);
/** For so long after such a fault the store counts as one that cannot write; each call that fails says it anew. */
const REMEMBERED_MS = 10_000;
const SAID_EVERY_MS = 60_000;

/**
 * Remembers that PostgreSQL could not write: it answers questions on a full disk, and takes nothing. Says so in the log
 * once a minute, however many calls fail. `now` answers milliseconds.
 */
export function createDiskWatch({
  log,
  now,
}: {
  log: { error(fields: object, text: string): void };
  now: () => number;
}) {
  let failedAt = Number.NEGATIVE_INFINITY;
  let saidAt = Number.NEGATIVE_INFINITY;

  return {
    /** Looks at the fault of a statement. */
    note(error: unknown): void {
      const code = errorCode(error);
      if (code === undefined || !CANNOT_WRITE.has(code)) return;
      failedAt = now();
      if (failedAt - saidAt < SAID_EVERY_MS) return;
      saidAt = failedAt;
      log.error(
        { error },
        "PostgreSQL cannot write: its disk is full or failing. Free disk space; no messages are accepted until then",
      );
    },

    /** True when it could not write a moment ago. */
    isFull: (): boolean => now() - failedAt < REMEMBERED_MS,
  };
}

/** Remembers that PostgreSQL could not write. */
export type DiskWatch = ReturnType<typeof createDiskWatch>;

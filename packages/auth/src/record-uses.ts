import type { Log } from "@svc/log";

/** Interval at which uses are stored. */
const STORE_MS = 10_000;

/**
 * Returns a function that records that a key or a session was used. The IDs of ten seconds are stored together, by
 * `touch`; a failure is logged and not reported to the caller.
 */
export function createUseRecorder(
  touch: (ids: string[]) => Promise<void>,
  what: string,
  log: Log,
): (id: string) => void {
  const used = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  return (id) => {
    used.add(id);
    if (timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      const ids = [...used];
      used.clear();
      touch(ids).catch((error: unknown) => log.debug({ error }, `failed to record when ${what} were last used`));
    }, STORE_MS);
    timer.unref();
  };
}

import type { Hook } from "@svc/store";

/** How long a hook pauses after a body that its mapping took too long for. */
const PAUSE_MS = 10_000;
const MAX_HOOKS = 1_000;

/** Hooks that pause: what takes too long for one body mostly does for the next, and holds up everybody else meanwhile. */
export interface SlowHooks {
  /** Makes this version of a hook pause. */
  note(hook: Pick<Hook, "id" | "version">): void;
  /** Seconds until a hook goes on, rounded up; 0 for one that does not pause. Another version of it does not. */
  secondsLeft(hook: Pick<Hook, "id" | "version">): number;
}

/** Makes the memory of slow hooks, of one process. `now` is in milliseconds, as `Date.now` has it. */
export function createSlowHooks(now: () => number = Date.now): SlowHooks {
  const pauses = new Map<string, { version: number; untilMs: number }>();
  return {
    note({ id, version }) {
      pauses.delete(id);
      pauses.set(id, { version, untilMs: now() + PAUSE_MS });
      const [oldest] = pauses.keys();
      if (pauses.size > MAX_HOOKS && oldest !== undefined) pauses.delete(oldest);
    },
    secondsLeft({ id, version }) {
      const pause = pauses.get(id);
      if (pause?.version !== version) return 0;
      return Math.max(0, Math.ceil((pause.untilMs - now()) / 1_000));
    },
  };
}

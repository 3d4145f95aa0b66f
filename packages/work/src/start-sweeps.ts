import { setTimeout as wait } from "node:timers/promises";
import type { Log } from "@svc/log";
import { QueueDownError } from "@svc/queue";
import { isUnavailable } from "@svc/store";

const SWEEP_MS = 500;
/** How long a stop waits for a step: one that waits for a database lock must not delay the whole process. */
const STOP_WAIT_MS = 2_000;

/** One thing that a sweep does; a long one checks `isStopped` between its parts. */
export type SweepStep = (isStopped: () => boolean) => Promise<void>;

/** A step that runs rarely: with the first sweep, and after a success with the first sweep that is `everyMs` later. */
export interface RareStep {
  everyMs: number;
  run: SweepStep;
}

/** Sweeps that run until stopped. */
export interface Sweeps {
  /** Milliseconds since the last sweep ended, or the first one was due: much more than 500 if a step hangs. */
  sinceRoundMs(): number;
  /** Makes every rare step due in the next sweep. */
  wake(): void;
  stop(): Promise<void>;
}

/**
 * Runs the steps one after the other, twice a second, until stopped: they find work whose job was lost. A rare step is
 * skipped until it is due, so that an idle process asks the store only for what cannot wait. A step that fails does not
 * stop the others and runs again in the next sweep; an unavailable queue or store is no error. `what` names what is swept, for
 * the log. `stop` waits for the running step, two seconds at most: the rest of it ends with the connections of the store.
 */
export function startSweeps(log: Log, what: string, steps: readonly (SweepStep | RareStep)[]): Sweeps {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  let lastRoundAt = performance.now();

  const dueAt = new Map<RareStep, number>();
  async function runIfDue(step: RareStep): Promise<void> {
    if (performance.now() < (dueAt.get(step) ?? 0)) return;
    await step.run(() => stopped);
    dueAt.set(step, performance.now() + step.everyMs);
  }

  async function attempt(step: SweepStep | RareStep): Promise<void> {
    try {
      await (typeof step === "function" ? step(() => stopped) : runIfDue(step));
    } catch (error) {
      if (error instanceof QueueDownError) return;
      if (isUnavailable(error)) log.debug({ error }, "database unavailable; the next sweep will retry");
      else log.warn({ error }, `sweep of ${what} failed; the next one will retry`);
    }
  }

  async function sweep(): Promise<void> {
    for (const step of steps) await attempt(step);
    lastRoundAt = performance.now();
  }

  const sweepLater = () => {
    if (stopped) return;
    timer = setTimeout(() => {
      sweeping = sweep();
      void sweeping.finally(sweepLater);
    }, SWEEP_MS);
  };
  sweepLater();

  return {
    sinceRoundMs: () => performance.now() - lastRoundAt,
    wake: () => dueAt.clear(),

    async stop() {
      stopped = true;
      clearTimeout(timer);
      await Promise.race([sweeping, wait(STOP_WAIT_MS, undefined, { ref: false })]);
    },
  };
}

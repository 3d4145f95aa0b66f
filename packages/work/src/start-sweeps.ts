import { setTimeout as sleep, setTimeout as wait } from "node:timers/promises";
import type { Log } from "@svc/log";
import { QueueDownError } from "@svc/queue";
import { isUnavailable } from "@svc/store";

const SWEEP_MS = 500;
/** Interval of sweeps in a process that has had no work for `RECENT_MS`. */
const IDLE_SWEEP_MS = 2_000;
/** Longer than the delays of a message's attempts, whose next one a sweep announces. */
const RECENT_MS = 10_000;
/** How long a stop waits for a step: one that waits for a database lock must not delay the whole process. */
const STOP_WAIT_MS = 2_000;

/** One thing that a sweep does; a long one checks `isStopped` between its parts. */
export type SweepStep = (isStopped: () => boolean) => Promise<void>;

/** A step that runs only if something may be due, which is work and which all steps of a sweep find out at once. */
export interface DueStep {
  isDue: () => Promise<boolean>;
  run: SweepStep;
}

/** A step that runs rarely: with the first sweep, and after a success with the first sweep that is `everyMs` later. */
export interface RareStep {
  everyMs: number;
  run: SweepStep;
}

type Step = SweepStep | DueStep | RareStep;

/** Sweeps that run until stopped. */
export interface Sweeps {
  /** Milliseconds since the last sweep ended, or the first one was due: much more than 500 if a step hangs. */
  sinceRoundMs(): number;
  /** Makes every rare step due in the next sweep, within about half a second. */
  wake(): void;
  stop(): Promise<void>;
}

/**
 * Until when the sweeps of this process run twice a second. It is the same for all of them, because the work of one leads
 * to work for another: a message changes its ticket, whose change is followed, which makes emails and events for webhooks.
 */
let busyUntil = 0;
/** Starts the sweeps of this process that wait for an idle interval sooner. */
const idleSweeps = new Set<() => void>();

/** Reports that this process has work: all its sweeps run twice a second for the next ten seconds. */
export function reportWork(): void {
  busyUntil = performance.now() + RECENT_MS;
  for (const sweepSooner of idleSweeps) sweepSooner();
}

/**
 * Returns in how many milliseconds the next tick of an interval is, at least a quarter of it. Ticks are the same for the
 * whole process, so that what asks the store at them shares a statement with others that do.
 */
export function msUntilTick(everyMs: number): number {
  const restMs = everyMs - (performance.now() % everyMs);
  // A timer can fire a moment before its tick.
  return restMs < everyMs / 4 ? restMs + everyMs : restMs;
}

/**
 * Runs the steps one after the other until stopped: they find work whose job was lost. That is twice a second while the
 * process has work, which a `DueStep` that is due and `reportWork` report, and every two seconds otherwise. A rare step is
 * skipped until it is due, and a `DueStep` unless something may be due, so that an idle process asks the store only for
 * what cannot wait. A step that fails does not stop the others and runs again in the next sweep; an unavailable queue or
 * store is no error. `what` names what is swept, for the log. `stop` waits for the running step, two seconds at most: the
 * rest of it ends with the connections of the store.
 */
// oxlint-disable-next-line max-lines-per-function -- One cycle whose functions share its state.
export function startSweeps(log: Log, what: string, steps: readonly Step[]): Sweeps {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  let lastRoundAt = performance.now();
  let wakeCount = 0;

  const dueAt = new Map<Step, number>();
  async function isDue(step: Step): Promise<boolean> {
    if (typeof step === "function") return true;
    return "isDue" in step ? step.isDue() : performance.now() >= (dueAt.get(step) ?? 0);
  }

  async function run(step: Step): Promise<void> {
    const wakesBefore = wakeCount;
    if ("isDue" in step) reportWork();
    await (typeof step === "function" ? step : step.run)(() => stopped);
    // What woke the sweeps during the step may have come too late for it.
    if ("everyMs" in step && wakesBefore === wakeCount) dueAt.set(step, performance.now() + step.everyMs);
  }

  async function sweep(): Promise<void> {
    const due = await Promise.allSettled(steps.map(isDue));
    for (const [index, step] of steps.entries()) {
      const asked = due[index];
      try {
        if (asked?.status === "rejected") throw asked.reason;
        if (asked?.value === true) await run(step);
      } catch (error) {
        reportError(log, what, error);
      }
    }
    lastRoundAt = performance.now();
  }

  function sweepLater(): void {
    clearTimeout(timer);
    idleSweeps.delete(sweepLater);
    if (stopped) return;
    const isIdle = performance.now() >= busyUntil;
    if (isIdle) idleSweeps.add(sweepLater);
    timer = setTimeout(
      () => {
        idleSweeps.delete(sweepLater);
        sweeping = sweep();
        void sweeping.finally(sweepLater);
      },
      msUntilTick(isIdle ? IDLE_SWEEP_MS : SWEEP_MS),
    );
  }
  // A process that has just started may find work that another one abandoned.
  reportWork();
  sweepLater();

  return {
    sinceRoundMs: () => performance.now() - lastRoundAt,

    wake() {
      wakeCount += 1;
      dueAt.clear();
      reportWork();
    },

    async stop() {
      stopped = true;
      clearTimeout(timer);
      idleSweeps.delete(sweepLater);
      await Promise.race([sweeping, wait(STOP_WAIT_MS, undefined, { ref: false })]);
    },
  };
}

function reportError(log: Log, what: string, error: unknown): void {
  if (error instanceof QueueDownError) return;
  if (isUnavailable(error)) log.debug({ error }, "database unavailable; the next sweep will retry");
  else log.warn({ error }, `sweep of ${what} failed; the next one will retry`);
}

const RETRY_MS = 500;
/** Attempts of a write that fails for another reason than an unavailable store, such as a deadlock. */
const ATTEMPTS_MAX = 10;

/**
 * Records work that is already done, such as a sent message: the write is repeated while the store is unavailable, and after
 * any other error up to ten times. Gives up after `signal` is aborted, with one last attempt; never rejects. The write is
 * idempotent; `what` names it for the log.
 */
export async function retryUntilStored(
  log: Log,
  write: () => Promise<void>,
  { what, signal, retryMs = RETRY_MS }: { what: string; signal: AbortSignal; retryMs?: number },
): Promise<void> {
  for (let errors = 0; ;) {
    try {
      return await write();
    } catch (error) {
      if (!isUnavailable(error) && ++errors >= ATTEMPTS_MAX) return log.error({ error }, `${what} failed`);
      if (signal.aborted) return log.warn({ error }, `${what} abandoned`);
      await sleep(retryMs);
    }
  }
}

import { EXIT, InterruptedError } from "./cli-error.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Returns the result of the work. Rejects with the reason of the signal as soon as it aborts; the work is not waited for then. */
export async function untilAborted<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  let giveUp: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    giveUp = () => reject(signal.reason as Error);
    signal.addEventListener("abort", giveUp, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

/** Interruptions of a command that has something to stop first. */
interface InterruptWatch {
  hasHappened(): boolean;
  /** Aborted as soon as the person ends the command. */
  readonly signal: AbortSignal;
  /** Returns the result of the work. Rejects with InterruptedError as soon as the person ends the command. */
  race<Result>(work: Promise<Result>): Promise<Result>;
  /** Stops handling the signals. */
  release(): void;
}

/**
 * Handles Ctrl-C, SIGTERM and a closed terminal, so that what was started can be stopped first. A second signal ends the
 * process immediately.
 */
export function watchInterrupt(): InterruptWatch {
  const controller = new AbortController();
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort(new InterruptedError());
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    hasHappened: () => controller.signal.aborted,
    signal: controller.signal,
    race: (work) => untilAborted(() => work, controller.signal),
    release() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

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

/** Something that Ctrl-C must not tear apart. */
export interface InterruptWatch {
  hasHappened(): boolean;
  /** Aborts as soon as the person wants the command to end. */
  readonly signal: AbortSignal;
  /** The result of the work, or an InterruptedError as soon as the person wants the command to end. */
  race<Result>(work: Promise<Result>): Promise<Result>;
  /** Gives the signals back. */
  release(): void;
}

/**
 * Takes Ctrl-C, SIGTERM and a closed terminal over, so that what was started can be stopped first. A second signal
 * ends the process at once.
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

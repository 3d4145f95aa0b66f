/** What ends a call: its caller, its timeout, or the process that makes it. */
export interface CallBounds {
  readonly signal: AbortSignal;
  /** True when it was the time that has ended it. */
  isLate(): boolean;
  end: (reason: unknown) => void;
  /** Lets go of the signal that was given and of the timer. Safe to call twice. */
  release(): void;
}

/**
 * Bounds a call by a signal and, where one is given, a time in milliseconds; `release` it when it has ended. What
 * `AbortSignal.any` makes instead stays with its sources for good, such as the signal of a process.
 */
export function openCallBounds(given: AbortSignal, timeoutMs?: number): CallBounds {
  const ending = new AbortController();
  let isLate = false;
  const end = () => ending.abort(given.reason);
  const whenLate = () => {
    isLate = !ending.signal.aborted;
    ending.abort(new Error(`a call has not ended within ${timeoutMs} ms`));
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(whenLate, timeoutMs);
  if (given.aborted) end();
  else given.addEventListener("abort", end, { once: true });
  return {
    signal: ending.signal,
    isLate: () => isLate,
    end: (reason) => ending.abort(reason),
    release() {
      clearTimeout(timer);
      given.removeEventListener("abort", end);
    },
  };
}

/** Requests that are being answered, so that a stop can wait for their answers. */
export interface RunningCalls {
  /** Counts a request until the function that it answers is called; calling that again does nothing. */
  begin(): () => void;
  /** Resolves when no request is counted: at once where none is. */
  idle(): Promise<void>;
}

/** Makes a count of running requests. */
export function createRunningCalls(): RunningCalls {
  const running = new Set<symbol>();
  const waiting = new Set<() => void>();
  return {
    begin() {
      const call = Symbol("call");
      running.add(call);
      return () => {
        running.delete(call);
        if (running.size > 0) return;
        for (const resolve of waiting) resolve();
        waiting.clear();
      };
    },
    idle: () =>
      running.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.add(resolve);
          }),
  };
}

/** Resolves after this time, or as soon as one of the signals is aborted. Leaves no listener and no timer behind. */
export function waitMs(ms: number, ...signals: AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end() {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", end);
      resolve();
    }
    for (const signal of signals) signal.addEventListener("abort", end, { once: true });
    if (signals.some(({ aborted }) => aborted)) end();
  });
}

/**
 * Returns a pause that doubles with each consecutive failure, with jitter so that replicas do not retry at the same
 * time.
 */
export function backoffMs(failures: number, { firstMs, maxMs }: { firstMs: number; maxMs: number }): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 20));
  return full * (0.5 + Math.random() / 2);
}

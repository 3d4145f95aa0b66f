/** A message that is on its way gets so long after the end was asked for: broken off, it would be sent again. */
const GRACE_MS = 2_000;

/** Runs `work` with a signal that is aborted some time after one of `signals` is. Leaves nothing behind. */
export async function cutAfterGrace<Result>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<Result>,
  graceMs = GRACE_MS,
): Promise<Result> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const endSoon = () => {
    timer ??= setTimeout(() => controller.abort(), graceMs);
  };
  for (const signal of signals) {
    if (signal?.aborted ?? false) endSoon();
    signal?.addEventListener("abort", endSoon, { once: true });
  }
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal?.removeEventListener("abort", endSoon);
  }
}

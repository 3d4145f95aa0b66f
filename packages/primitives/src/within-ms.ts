/**
 * Resolves to the result of the promise, or to undefined after `limitMs`. Rejects if the promise rejects before that; a
 * later rejection is ignored.
 */
export async function withinMs<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limitMs, undefined);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

import { setImmediate as nextTurn } from "node:timers/promises";

/** Longest time for which a long piece of work keeps everything else of the process waiting. */
const SLICE_MS = 10;

/**
 * Makes a function that long work awaits again and again: whenever some 10 ms have gone by, everything else that the
 * process has to do gets its turn. Cheap enough to be called for every thousandth of what is worked on.
 */
export function createYielder(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await nextTurn();
    since = performance.now();
  };
}

import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { testLog, waitFor } from "@svc/testing";
import { reportWork, startSweeps } from "../../../packages/work/src/start-sweeps.ts";

const HOUR_MS = 3_600_000;

test("runs a rare step with the first sweep, and not again before it is due or woken up", async () => {
  const ran = { often: 0, rare: 0 };
  const often = () => Promise.resolve(void ran.often++);
  const rare = { everyMs: HOUR_MS, run: () => Promise.resolve(void ran.rare++) };
  const sweeps = startSweeps(testLog(), "a test", [often, rare]);
  await waitFor(() => ran.often >= 3, { what: "three sweeps" });
  expect(ran.rare).toBe(1);
  sweeps.wake();
  await waitFor(() => ran.rare === 2, { what: "the rare step to run after the wake-up" });
  await sweeps.stop();
});

test("runs a step with a due check only if it is due, and the steps after one without", async () => {
  const ran = { due: 0, idle: 0, last: 0 };
  const cannotTell = { isDue: () => Promise.reject(new Error("It failed.")), run: () => Promise.resolve() };
  const due = { isDue: () => Promise.resolve(true), run: () => Promise.resolve(void ran.due++) };
  const idle = { isDue: () => Promise.resolve(false), run: () => Promise.resolve(void ran.idle++) };
  const sweeps = startSweeps(testLog(), "a test", [cannotTell, idle, due, () => Promise.resolve(void ran.last++)]);
  await waitFor(() => ran.last === 2, { what: "two sweeps" });
  expect(ran).toEqual({ due: 2, idle: 0, last: 2 });
  await sweeps.stop();
});

test("repeats a rare step that failed with the next sweep", async () => {
  let attempts = 0;
  const failing = {
    everyMs: HOUR_MS,
    run: () => (++attempts === 1 ? Promise.reject(new Error("It failed.")) : Promise.resolve()),
  };
  const sweeps = startSweeps(testLog(), "a test", [failing]);
  await waitFor(() => attempts === 2, { what: "the second attempt" });
  await sweeps.stop();
});

describe("the interval of sweeps", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** Starts the sweeps of one kind of work, which is due while `isDue` says so. */
  function startCounted(isDue: () => boolean = () => false) {
    let sweepCount = 0;
    const step = { isDue: () => Promise.resolve(isDue()), run: () => Promise.resolve() };
    const sweeps = startSweeps(testLog(), "a test", [() => Promise.resolve(void sweepCount++), step]);
    async function countWithin(ms: number): Promise<number> {
      const before = sweepCount;
      await jest.advanceTimersByTimeAsync(ms);
      return sweepCount - before;
    }
    return { ...sweeps, countWithin };
  }

  test("is half a second while there is work, and two seconds in an idle process until there is work again", async () => {
    let isDue = false;
    const sweeps = startCounted(() => isDue);
    expect(await sweeps.countWithin(10_000)).toBe(20);
    await sweeps.countWithin(2_000);
    expect(await sweeps.countWithin(10_000)).toBe(5);
    reportWork();
    expect(await sweeps.countWithin(1_000)).toBe(2);
    await sweeps.countWithin(12_000);
    isDue = true;
    // A sweep in which something is due is followed by the next one half a second later.
    await sweeps.countWithin(2_000);
    expect(await sweeps.countWithin(20_000)).toBe(40);
    await sweeps.stop();
  });

  test("is half a second for all kinds of work of a process while one of them has work", async () => {
    let isDue = false;
    const working = startCounted(() => isDue);
    const other = startCounted();
    await jest.advanceTimersByTimeAsync(20_000);
    isDue = true;
    await working.countWithin(2_000);
    expect(await other.countWithin(10_000)).toBe(20);
    await Promise.all([working.stop(), other.stop()]);
  });

  test("is half a second in an idle process that is woken up, and a wake-up during a rare step repeats it", async () => {
    const ran: number[] = [];
    let release: () => void = () => undefined;
    const rare = {
      everyMs: HOUR_MS,
      run: () =>
        new Promise<void>((resolve) => {
          ran.push(performance.now());
          release = resolve;
        }),
    };
    const sweeps = startSweeps(testLog(), "a test", [rare]);
    await jest.advanceTimersByTimeAsync(1_000);
    release();
    await jest.advanceTimersByTimeAsync(20_000);
    sweeps.wake();
    const wokenAt = performance.now();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ran[1]).toBeLessThan(wokenAt + 650);
    // This wake-up comes after the step has read what there is.
    sweeps.wake();
    release();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ran).toHaveLength(3);
    release();
    await sweeps.stop();
  });
});

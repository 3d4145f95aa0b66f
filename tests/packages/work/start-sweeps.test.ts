import { expect, jest, test } from "@jest/globals";
import { testLog, waitFor } from "@svc/testing";
import { startSweeps } from "../../../packages/work/src/start-sweeps.ts";

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

test("sweeps twice a second while there is work, and every two seconds in an idle process until there is work again", async () => {
  jest.useFakeTimers();
  try {
    let sweepCount = 0;
    let finds = false;
    const step = () => {
      sweepCount += 1;
      return Promise.resolve(finds);
    };
    const sweeps = startSweeps(testLog(), "a test", [step]);
    async function countWithin(ms: number): Promise<number> {
      const before = sweepCount;
      await jest.advanceTimersByTimeAsync(ms);
      return sweepCount - before;
    }
    expect(await countWithin(10_000)).toBe(20);
    await countWithin(2_000);
    expect(await countWithin(10_000)).toBe(5);
    sweeps.noteWork();
    expect(await countWithin(1_000)).toBe(2);
    await countWithin(12_000);
    finds = true;
    // A sweep that finds work is followed by the next one half a second later.
    await countWithin(2_000);
    expect(await countWithin(20_000)).toBe(40);
    await sweeps.stop();
  } finally {
    jest.useRealTimers();
  }
});

import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { testLog } from "@svc/testing";
import { startStalledChecks } from "../../../packages/queue/src/open-queues.ts";

beforeEach(() => void jest.useFakeTimers());

afterEach(() => void jest.useRealTimers());

test("a queue is checked for stalled jobs every six seconds while it is active, and once a minute otherwise", async () => {
  const checkedAt: number[] = [];
  const begunAt = performance.now();
  const checks = startStalledChecks(testLog(), "incoming-messages", () => {
    checkedAt.push((performance.now() - begunAt) / 1_000);
    return Promise.resolve();
  });
  checks.reportActivity();
  await jest.advanceTimersByTimeAsync(100_000);
  // Four checks after the last activity, since two of them have to find a job whose lock has expired.
  expect(checkedAt).toEqual([0, 6, 12, 18, 24, 84]);
  checks.reportActivity();
  await jest.advanceTimersByTimeAsync(20_000);
  expect(checkedAt.slice(6)).toEqual([100, 106, 112, 118]);
  checks.stop();
  checks.reportActivity();
  await jest.advanceTimersByTimeAsync(100_000);
  expect(checkedAt).toHaveLength(10);
});

test("a check that fails does not end the checks", async () => {
  let checkCount = 0;
  const checks = startStalledChecks(testLog(), "incoming-messages", () => {
    checkCount += 1;
    return Promise.reject(new Error("It failed."));
  });
  checks.reportActivity();
  await jest.advanceTimersByTimeAsync(7_000);
  expect(checkCount).toBe(2);
  checks.stop();
});

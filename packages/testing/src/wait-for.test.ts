import { describe, expect, test } from "@jest/globals";
import { pauseAfter, waitFor, stretchOfLimits } from "./wait-for.ts";

describe("timeLimits", () => {
  test("time limits stay as they are on a machine of one's own, and stretch with the load of others", () => {
    expect(stretchOfLimits(0, 2)).toBe(1);
    expect(stretchOfLimits(4, 2)).toBe(1);
    expect(stretchOfLimits(10, 2)).toBe(2.5);
    expect(stretchOfLimits(1_000, 2)).toBe(6);
    expect(stretchOfLimits(10, 8)).toBe(1);
  });
});

test("it resolves to the first truthy answer of the check", async () => {
  let calls = 0;
  expect(await waitFor(() => ++calls >= 3 && `call ${calls}`, { what: "three calls" })).toBe("call 3");
});

test("a check that throws has not come true yet", async () => {
  let calls = 0;
  const check = () => {
    if (++calls < 3) throw new Error("not yet");
    return Promise.resolve("now");
  };
  expect(await waitFor(check, { what: "the third call" })).toBe("now");
});

test("the failure says what was waited for and why it did not come", async () => {
  const cause = new Error("connection refused");
  const waiting = waitFor(() => Promise.reject(cause), { what: "the server", timeoutMs: 1 });
  await expect(waiting).rejects.toMatchObject({
    message: expect.stringMatching(/the server \(connection refused\)/),
    cause,
  });
});

test("a short wait ends at most 20 ms late, a longer one a tenth of its time and never more than 200 ms", () => {
  expect([0, 100, 500, 10_000].map(pauseAfter)).toEqual([20, 20, 50, 200]);
});

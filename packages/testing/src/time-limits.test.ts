import { expect, test } from "@jest/globals";
import { stretchOfLimits } from "./time-limits.ts";

test("time limits stay as they are on a machine of one's own, and stretch with the load of others", () => {
  expect(stretchOfLimits(0, 2)).toBe(1);
  expect(stretchOfLimits(4, 2)).toBe(1);
  expect(stretchOfLimits(10, 2)).toBe(2.5);
  expect(stretchOfLimits(1_000, 2)).toBe(6);
  expect(stretchOfLimits(10, 8)).toBe(1);
});

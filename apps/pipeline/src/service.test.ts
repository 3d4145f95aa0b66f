import { expect, test } from "@jest/globals";
import { nextLoad } from "./service.ts";
import type { Load } from "./service.ts";

/** Returns the share after checks that measured these delays, in milliseconds. */
const shareAfter = (...delaysMs: number[]) =>
  delaysMs.reduce<Load>((load, lateMs) => nextLoad(load, lateMs), { share: 1, checksWithoutDelay: 0 }).share;

test("halves the share of a process whose event loop or renewals are late, down to a sixteenth", () => {
  expect(shareAfter(20, 20)).toBe(1);
  expect(shareAfter(20, 1_500)).toBe(1 / 2);
  expect(shareAfter(1_500, 5_000, 1_000)).toBe(1 / 8);
  expect(shareAfter(...Array.from({ length: 20 }, () => 9_000))).toBe(1 / 16);
});

test("doubles the share after five seconds without a delay, up to all jobs", () => {
  expect(shareAfter(1_500, 5_000, 10, 10, 10, 10)).toBe(1 / 4);
  expect(shareAfter(1_500, 5_000, 10, 10, 10, 10, 10)).toBe(1 / 2);
  expect(shareAfter(1_500, 10, 10, 10, 10, 1_200)).toBe(1 / 4);
  expect(shareAfter(1_500, ...Array.from({ length: 30 }, () => 10))).toBe(1);
});

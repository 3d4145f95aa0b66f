import { expect, test } from "@jest/globals";
import { createBackoff } from "./open-connection.ts";

const nextOf = (backoff: { nextMs: () => number }, count: number) => Array.from({ length: count }, backoff.nextMs);

test("the bound doubles up to half a minute, and delays are random below it", () => {
  const bounds = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
  expect(
    nextOf(
      createBackoff(() => 1),
      8,
    ),
  ).toEqual(bounds);
  expect(
    nextOf(
      createBackoff(() => 0.25),
      8,
    ),
  ).toEqual(bounds.map((bound) => bound / 4));
  expect(
    nextOf(
      createBackoff(() => 0),
      8,
    ),
  ).toEqual(bounds.map(() => 0));
});

test("after a connection that drops immediately the bound is not reset, after a stable one it is", () => {
  const backoff = createBackoff(() => 1);
  nextOf(backoff, 6);
  backoff.noteUp();
  expect(nextOf(backoff, 2)).toEqual([2_000, 4_000]);
  backoff.reset();
  backoff.noteUp();
  expect(nextOf(backoff, 2)).toEqual([500, 1_000]);
});

test("reconnects of a thousand visitors whose connections dropped together are spread over the whole bound", () => {
  const waits = Array.from({ length: 1_000 }, () => createBackoff(Math.random).nextMs());
  const tenths = Array.from({ length: 10 }, (_, tenth) => waits.filter((ms) => Math.floor(ms / 50) === tenth).length);
  expect(Math.min(...tenths)).toBeGreaterThan(50);
  expect(Math.max(...tenths)).toBeLessThan(200);
});

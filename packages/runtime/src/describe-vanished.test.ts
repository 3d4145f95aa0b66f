import { describe, expect, test } from "@jest/globals";
import { describeVanished } from "./describe-vanished.ts";

const MB = 1_000_000;
const gone = {
  app: "api",
  host: "3f2a",
  pid: 7,
  startedAt: new Date("2026-01-02T03:00:00Z"),
  heardAt: new Date("2026-01-02T03:04:05Z"),
  memoryBytes: 100 * MB,
  memoryLimitBytes: 1_000 * MB,
};

describe("a process that has vanished without a stop", () => {
  test("is said to have been killed, to have crashed or to be cut off, with what it used", () => {
    expect(describeVanished(gone)).toBe(
      "The api on 3f2a (process 7) last reported at 2026-01-02T03:04:05.000Z and did not shut down cleanly: it was killed (by kill -9, or because of its memory usage), crashed, or cannot reach the database. It used 100 of 1000 MB.",
    );
  });

  test("near its limit is said to have been killed for its memory, and what to do", () => {
    expect(describeVanished({ ...gone, memoryBytes: 900 * MB })).toMatch(
      /it probably ran out of memory and was killed\. It used 900 of 1000 MB.*SVC_MEMORY_LIMIT/,
    );
  });

  test("without a limit is said with what it used alone", () => {
    expect(describeVanished({ ...gone, memoryLimitBytes: null })).toMatch(/It used 100 MB\.$/);
  });
});

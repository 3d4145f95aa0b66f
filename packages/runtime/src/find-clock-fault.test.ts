import { describe, expect, test } from "@jest/globals";
import { findClockFault } from "./find-clock-fault.ts";

const HOUR_MS = 3_600_000;
const storeAt = (apartMs: number) => ({ readTimeMs: () => Promise.resolve(Date.now() - apartMs) });

describe("the clock of a process", () => {
  test.each([0, 20_000, -20_000])("%i ms from the database's clock is right", async (apartMs) => {
    expect(await findClockFault(storeAt(apartMs))).toBeNull();
  });

  test("an hour off is told in words, either way", async () => {
    expect(await findClockFault(storeAt(HOUR_MS))).toMatch(/60 minutes ahead of the database's clock.*NTP/);
    expect(await findClockFault(storeAt(-HOUR_MS))).toMatch(/60 minutes behind the database's clock/);
  });
});

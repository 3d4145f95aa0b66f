import { describe, expect, test } from "@jest/globals";
import { arrivalOf } from "./use-channel.ts";

const BEFORE = { id: "one", version: 4 };

describe("the test of a channel", () => {
  test("waits while nothing has come since it began", () => {
    expect(arrivalOf(undefined, { ...BEFORE, stage: "done" })).toBe("waiting");
    expect(arrivalOf(BEFORE, { ...BEFORE, stage: "done" })).toBe("waiting");
    expect(arrivalOf(null, null)).toBe("waiting");
  });

  test("says what becomes of the first message of a channel, and of one in a chat that was there", () => {
    expect(arrivalOf(null, { id: "one", version: 1, stage: "triage" })).toBe("working");
    expect(arrivalOf(BEFORE, { id: "one", version: 6, stage: "done" })).toBe("answered");
    expect(arrivalOf(BEFORE, { id: "two", version: 3, stage: "review" })).toBe("held");
    expect(arrivalOf(BEFORE, { id: "two", version: 3, stage: "failed" })).toBe("failed");
  });
});

import { describe, expect, test } from "@jest/globals";
import { arrivalOf } from "./use-channel.ts";

const BEFORE = { id: "one", version: 4 };

describe("the test of a channel", () => {
  test("waits until a message arrives after its start", () => {
    expect(arrivalOf(undefined, { ...BEFORE, stage: "done" })).toBe("waiting");
    expect(arrivalOf(BEFORE, { ...BEFORE, stage: "done" })).toBe("waiting");
    expect(arrivalOf(null, null)).toBe("waiting");
  });

  test("shows the state of a channel's first message, and of one in an existing chat", () => {
    expect(arrivalOf(null, { id: "one", version: 1, stage: "triage" })).toBe("working");
    expect(arrivalOf(BEFORE, { id: "one", version: 6, stage: "done" })).toBe("answered");
    expect(arrivalOf(BEFORE, { id: "two", version: 3, stage: "review" })).toBe("held");
    expect(arrivalOf(BEFORE, { id: "two", version: 3, stage: "failed" })).toBe("failed");
  });
});

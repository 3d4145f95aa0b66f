import { describe, expect, test } from "@jest/globals";
import { createBreaker } from "./circuit-breaker.ts";

function open(restMs: number) {
  const events: string[] = [];
  const onOpen = (reason: string) => events.push(`open: ${reason}`);
  return { events, breaker: createBreaker({ maxFailures: 2, restMs, onOpen, onClose: () => events.push("closed") }) };
}

describe("a breaker", () => {
  test("rests after so many failures in a row, and says so once", () => {
    const { events, breaker } = open(60_000);
    breaker.fail("one");
    breaker.succeed();
    breaker.fail("two");
    expect([breaker.allows(), breaker.restReason()]).toEqual([true, null]);
    breaker.fail("three");
    breaker.fail("four");
    expect([breaker.allows(), breaker.restReason()]).toEqual([false, "four"]);
    expect(events).toEqual(["open: three"]);
  });

  test("lets a call through after its rest, and ends with a success", () => {
    const { events, breaker } = open(0);
    breaker.fail("one");
    breaker.fail("two");
    expect(breaker.allows()).toBe(true);
    breaker.succeed();
    expect([breaker.allows(), breaker.restReason()]).toEqual([true, null]);
    expect(events).toEqual(["open: two", "closed"]);
  });
});

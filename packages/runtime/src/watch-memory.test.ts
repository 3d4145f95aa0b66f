import { describe, expect, test } from "@jest/globals";
import { parseOwnMemory, readOwnMemory } from "./read-memory.ts";
import { findMemoryFault } from "./watch-memory.ts";

const MB = 1_000_000;

describe("the memory of a process", () => {
  test("is warned of when it nears the limit of its container", () => {
    expect(findMemoryFault(900 * MB, 1_000 * MB)).toMatch(/uses 900 of 1000 MB.*exit code 137/);
  });

  test.each([
    ["far below it", 500 * MB, 1_000 * MB],
    ["without one", 900 * MB, 0],
    ["with one that no machine has", 900 * MB, 2 ** 63],
  ])("is nothing to tell %s", (_what, used, limit) => {
    expect(findMemoryFault(used, limit)).toBeNull();
  });

  test("is what the system cannot take back: not the files that a process has mapped", () => {
    const status = "Name:\tnode\nVmRSS:\t  189320 kB\nRssAnon:\t  132712 kB\nRssFile:\t   56608 kB\n";
    expect(parseOwnMemory(status)).toBe(132_712 * 1_024);
    expect(parseOwnMemory("Name:\tnode\nVmRSS:\t  189320 kB\n")).toBeNull();
    expect(readOwnMemory()).toBeGreaterThan(10 * MB);
  });
});

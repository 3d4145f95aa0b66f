import { expect, test } from "@jest/globals";
import type { Counters } from "@svc/queue";
import { countBytes, countText } from "./count-use.ts";

const MB = 1024 * 1024;

/** Counters of one process, whose windows end when their entries are deleted from `counts`. */
function createCountersInMemory(counts = new Map<string, number>()): Counters {
  const stateOf = (name: string, limit: number) => ({
    remaining: Math.max(limit - (counts.get(name) ?? 0), 0),
    resetMs: 1_000,
  });
  return {
    count(name, { limit }) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return Promise.resolve({ ...stateOf(name, limit), isOver: (counts.get(name) ?? 0) > limit });
    },
    peek: (name, { limit }) => Promise.resolve(stateOf(name, limit)),
  };
}

test("files of one address and key are accepted up to a total, and a small one uses little of it", async () => {
  const counters = createCountersInMemory();
  const caller = { address: "203.0.113.1", key: "wk_one" };
  for (let index = 0; index < 24; index++) await countBytes(counters, caller, 10 * MB);
  for (let index = 0; index < 100; index++) await countBytes(counters, caller, 1);
  await expect(countBytes(counters, caller, 10 * MB)).rejects.toMatchObject({ code: "rate_limited" });
  for (const other of [{ address: "203.0.113.2" }, { key: "wk_two" }]) {
    await countBytes(counters, { ...caller, ...other }, 10 * MB);
  }
});

test("files of one address and key are accepted up to a daily total, however they are spread over its hours", async () => {
  const counts = new Map<string, number>();
  const counters = createCountersInMemory(counts);
  const caller = { address: "203.0.113.1", key: "wk_one" };
  for (let hour = 0; hour < 5; hour++) {
    for (let index = 0; index < 10; index++) await countBytes(counters, caller, 10 * MB);
    for (const name of counts.keys()) if (name.startsWith("widget-blocks:")) counts.delete(name);
  }
  await expect(countBytes(counters, caller, 1)).rejects.toMatchObject({
    code: "rate_limited",
    message: expect.stringContaining("500 MB of files a day"),
  });
  await countBytes(counters, { ...caller, address: "203.0.113.2" }, 10 * MB);
});

test("texts of one address and key are accepted up to a daily total", async () => {
  const counters = createCountersInMemory();
  const caller = { address: "203.0.113.1", key: "wk_one" };
  for (let index = 0; index < 20; index++) await countText(counters, caller, "x".repeat(MB));
  await expect(countText(counters, caller, "x")).rejects.toMatchObject({
    code: "rate_limited",
    message: expect.stringContaining("20 MB of text a day"),
  });
  await countText(counters, { ...caller, key: "wk_two" }, "x");
});

import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "@jest/globals";
import { createGate, errorCode, errorMessage, isRecord, isUuid, toError, withinMs } from "./index.ts";

describe("errorCode", () => {
  test("returns the code of an error of Node.js, in any realm", async () => {
    const error: unknown = await readFile("/nowhere").catch((reason: unknown) => reason);
    expect(errorCode(error)).toBe("ENOENT");
    expect(errorCode(runInNewContext("Object.assign(new Error('x'), { code: 'ELSEWHERE' })"))).toBe("ELSEWHERE");
  });

  test.each([new Error("none"), Object.assign(new Error("number"), { code: 7 }), null, undefined, "ENOENT"])(
    "returns undefined for a value without a textual code: %p",
    (value) => {
      expect(errorCode(value)).toBeUndefined();
    },
  );
});

test("errorMessage returns the message of an error and anything else as text", () => {
  expect([new Error("down"), "down", null, 7].map(errorMessage)).toEqual(["down", "down", "null", "7"]);
});

test("toError keeps an error and wraps anything else", () => {
  const error = new TypeError("own");
  expect(toError(error)).toBe(error);
  expect(toError("text")).toEqual(new Error("text"));
});

test("isRecord accepts objects only, and no arrays", () => {
  expect([{}, Object.create(null), { a: 1 }].map(isRecord)).toEqual([true, true, true]);
  expect([null, undefined, [], "text", 1, () => null].map(isRecord)).toEqual(Array(6).fill(false));
});

test("isUuid accepts UUIDs of every version and case, and nothing around them", () => {
  const id = "0190f5c2-8e1a-7c3b-9d4e-5f60718293a4";
  expect([id, id.toUpperCase()].map(isUuid)).toEqual([true, true]);
  expect(["", id.replaceAll("-", ""), ` ${id}`, `${id}\n`, `{${id}}`, id.slice(1)].map(isUuid)).toEqual(
    Array(6).fill(false),
  );
});

describe("withinMs", () => {
  test("resolves to the result of a promise that settles in time, and to undefined for one that does not", async () => {
    const stop = new AbortController();
    const late = sleep(60_000, "late", { signal: stop.signal }).catch(() => "stopped");
    expect(await withinMs(Promise.resolve("result"), 60_000)).toBe("result");
    expect(await withinMs(late, 1)).toBeUndefined();
    stop.abort();
    expect(await late).toBe("stopped");
  });

  test("rejects with the reason of a promise that rejects in time", async () => {
    await expect(withinMs(Promise.reject(new Error("down")), 60_000)).rejects.toThrow("down");
  });
});

test("a gate limits concurrent work and starts the rest in order, even if some of it fails", async () => {
  const gate = createGate(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const works = [0, 1, 2, 3].map((number) =>
    gate(async () => {
      begun.push(number);
      await new Promise<void>((resolve) => void ends.push(resolve));
      if (number === 0) throw new Error("it failed");
      return number;
    }),
  );
  const all = Promise.allSettled(works);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(begun).toEqual([0, 1]);
  ends[0]?.();
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  ends[1]?.();
  ends[2]?.();
  await settle();
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[3]?.();
  expect((await all).map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled", "fulfilled"]);
});

test("a gate starts waiting work of a lower priority value first, in order where it is the same", async () => {
  const gate = createGate(1);
  const begun: string[] = [];
  const add = (name: string, priority?: number) => gate(async () => void begun.push(name), priority);
  await Promise.all([add("running", 900), add("b", 5), add("c", 7), add("d", 5), add("a"), add("e", 7)]);
  expect(begun).toEqual(["running", "a", "b", "d", "c", "e"]);
});

test("a gate with fewer slots starts nothing further until work has ended, and one with more starts what waits", async () => {
  const gate = createGate(3);
  const ends: (() => void)[] = [];
  const run = () => gate(() => new Promise<void>((resolve) => void ends.push(resolve)));
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const works = [run(), run(), run(), run(), run()];
  await settle();
  gate.resize(0.5);
  for (const end of [ends[0], ends[1]]) end?.();
  await settle();
  expect(ends).toHaveLength(3);
  ends[2]?.();
  await settle();
  expect(ends).toHaveLength(4);
  gate.resize(2);
  await settle();
  expect(ends).toHaveLength(5);
  for (const end of ends) end();
  await Promise.all(works);
});

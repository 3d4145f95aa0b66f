import { expect, test } from "@jest/globals";
import { createIsolation } from "./isolation.ts";

/** Work that runs until the test ends it, and records its beginning and end. */
function createWork() {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => async () => {
    log.push(`${name} begins`);
    await new Promise<void>((resolve) => {
      ends.set(name, resolve);
    });
    log.push(`${name} ends`);
  };
  const turn = () =>
    new Promise((resolve) => {
      setTimeout(resolve);
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await turn();
    await turn();
  };
  return { log, work, end, turn };
}

test("work runs concurrently; a group starts after it has ended, and blocks later work", async () => {
  const { log, work, end, turn } = createWork();
  const isolation = createIsolation();
  const all = [
    isolation.runShared(work("a")),
    isolation.runShared(work("b")),
    isolation.runExclusive(1, work("suspect")),
  ];
  await turn();
  all.push(isolation.runShared(work("late")));
  await end("a");
  expect(log).toEqual(["a begins", "b begins", "a ends"]);
  await end("b");
  expect(log.slice(3)).toEqual(["b ends", "suspect begins"]);
  await end("suspect");
  expect(log.slice(5)).toEqual(["suspect ends", "late begins"]);
  await end("late");
  await Promise.all(all);
});

test("waiting concurrent work starts between two groups", async () => {
  const { log, work, end, turn } = createWork();
  const isolation = createIsolation();
  const all = [isolation.runExclusive(1, work("first")), isolation.runExclusive(1, work("second"))];
  await turn();
  all.push(isolation.runShared(work("beside")));
  await end("first");
  expect(log).toEqual(["first begins", "first ends", "beside begins"]);
  await end("beside");
  expect(log.slice(3)).toEqual(["beside ends", "second begins"]);
  await end("second");
  await Promise.all(all);
});

test("a group is half of the waiting work, within the limit of each piece", async () => {
  const isolation = createIsolation();
  const groups: string[] = [];
  const run = (name: string, limit: number) =>
    isolation.runExclusive(limit, async (groupSize) => void groups.push(`${name} of ${groupSize}`));
  await Promise.all([
    ...["g", "h", "i"].map((name) => run(name, 2)),
    run("j", 1),
    ...["a", "b", "c", "d", "e", "f"].map((name) => run(name, Infinity)),
  ]);
  const firstGroup = ["a of 5", "b of 5", "c of 5", "d of 5", "e of 5"];
  expect(groups).toEqual([...firstGroup, "f of 1", "g of 2", "h of 2", "i of 1", "j of 1"]);
});

test("failed work blocks nothing", async () => {
  const isolation = createIsolation();
  const fail = () => Promise.reject(new Error("it failed"));
  await expect(isolation.runShared(fail)).rejects.toThrow("it failed");
  await expect(isolation.runExclusive(1, fail)).rejects.toThrow("it failed");
  expect(await isolation.runExclusive(1, () => Promise.resolve("alone"))).toBe("alone");
  expect(await isolation.runShared(() => Promise.resolve("beside"))).toBe("beside");
});

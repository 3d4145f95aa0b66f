import { expect, test } from "@jest/globals";
import { createIsolation } from "./create-isolation.ts";

/** Work that goes on until it is told to end; it notes when it begins and ends. */
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

test("work goes on side by side; what is to be alone begins after it has ended, and holds back what comes later", async () => {
  const { log, work, end, turn } = createWork();
  const isolation = createIsolation();
  const all = [isolation.beside(work("a")), isolation.beside(work("b")), isolation.alone(work("lone"))];
  await turn();
  all.push(isolation.beside(work("late")));
  await end("a");
  expect(log).toEqual(["a begins", "b begins", "a ends"]);
  await end("b");
  expect(log.slice(3)).toEqual(["b ends", "lone begins"]);
  await end("lone");
  expect(log.slice(5)).toEqual(["lone ends", "late begins"]);
  await end("late");
  await Promise.all(all);
});

test("between two that are to be alone, what waits gets its turn", async () => {
  const { log, work, end, turn } = createWork();
  const isolation = createIsolation();
  const all = [isolation.alone(work("first")), isolation.alone(work("second"))];
  await turn();
  all.push(isolation.beside(work("beside")));
  await end("first");
  expect(log).toEqual(["first begins", "first ends", "beside begins"]);
  await end("beside");
  expect(log.slice(3)).toEqual(["beside ends", "second begins"]);
  await end("second");
  await Promise.all(all);
});

test("work that fails holds nobody up", async () => {
  const isolation = createIsolation();
  const fail = () => Promise.reject(new Error("it failed"));
  await expect(isolation.beside(fail)).rejects.toThrow("it failed");
  await expect(isolation.alone(fail)).rejects.toThrow("it failed");
  expect(await isolation.alone(() => Promise.resolve("alone"))).toBe("alone");
  expect(await isolation.beside(() => Promise.resolve("beside"))).toBe("beside");
});

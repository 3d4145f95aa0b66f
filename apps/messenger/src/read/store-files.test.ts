import { expect, test } from "@jest/globals";
import { createGate } from "./store-files.ts";

test("limits concurrent work and starts the rest in order, even if some of it fails", async () => {
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

import { expect, test } from "@jest/globals";
import { runAll } from "./run-all.ts";

test("what fails for one item is told and does not stop the others", async () => {
  const heard: number[] = [];
  const { done, faults } = await runAll(
    [1, 2, 3, 4, 5, 6],
    (item) => (item % 2 === 0 ? Promise.reject(new Error(`no ${item}`)) : Promise.resolve()),
    (over) => heard.push(over),
  );
  expect([...done].sort((one, other) => one - other)).toEqual([1, 3, 5]);
  expect(faults).toHaveLength(3);
  expect(heard).toEqual([1, 2, 3, 4, 5, 6]);
});

test("nothing to do is done at once", async () => {
  expect(
    await runAll(
      [],
      () => Promise.reject(new Error("never")),
      () => undefined,
    ),
  ).toEqual({ done: [], faults: [] });
});

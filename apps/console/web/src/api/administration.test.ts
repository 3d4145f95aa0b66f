import { expect, test } from "@jest/globals";
import { filterOf, waitForResult } from "./administration.ts";

test("all values chosen are no filter", () => {
  expect(filterOf(["a", "b"], ["b", "a"])).toEqual([]);
  expect(filterOf(["a"], ["b", "a"])).toEqual(["a"]);
  // Agents that this operator may not see stay.
  expect(filterOf(["a"], [])).toEqual(["a"]);
});

test("the result of a test is its first attempt, once that has ended", async () => {
  const done = { at: "2026-11-22T10:00:00.000Z", ms: 5, status: 500, error: "returned status 500" };
  const answers = [[], [{ ...done, ms: null, status: null, error: null }], [done]];
  expect(await waitForResult(() => Promise.resolve({ attempts: answers.shift() ?? [] }), 1)).toEqual(done);
  expect(await waitForResult(() => Promise.resolve({ attempts: [] }), 1)).toBeNull();
});

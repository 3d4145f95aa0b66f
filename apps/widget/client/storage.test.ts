import { expect, test } from "@jest/globals";
import { newId } from "./storage.ts";

test("an id is a random UUID of version 4, whose digits are random except for version and variant", () => {
  const ids = Array.from({ length: 2_000 }, newId);
  expect(ids.filter((id) => !/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(id))).toEqual([]);
  expect(new Set(ids).size).toBe(2_000);
  const kinds = Array.from({ length: 36 }, (_, at) => new Set(ids.map((id) => id[at])).size);
  const expected = Array.from("xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx", (position) => ({ x: 16, y: 4 })[position] ?? 1);
  expect(kinds).toEqual(expected);
});

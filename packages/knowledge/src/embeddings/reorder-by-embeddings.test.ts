import { expect, test } from "@jest/globals";
import { fuseRanks } from "./reorder-by-embeddings.ts";

const known =
  (...ids: string[]) =>
  (id: string) =>
    ids.includes(id);

test("what both orders put high comes before what only one does", () => {
  expect(fuseRanks(["a", "b", "c"], ["d", "c", "b"], known("a", "b", "c", "d"))).toEqual(["b", "c", "a", "d"]);
});

test("without embeddings the order by words stands", () => {
  expect(fuseRanks(["c", "a", "b"], [], known())).toEqual(["c", "a", "b"]);
});

test("a passage without an embedding keeps its place among those that have one", () => {
  expect(fuseRanks(["a", "new", "b"], ["a", "b"], known("a", "b"))).toEqual(["a", "new", "b"]);
});

test("nothing by words: the order by meaning", () => {
  expect(fuseRanks([], ["b", "a"], known("a", "b"))).toEqual(["b", "a"]);
});

import { describe, expect, test } from "@jest/globals";
import {
  addRows,
  compareRows,
  createVectorTable,
  findClosestRows,
  findCosine,
  removeRow,
  sizeOfTable,
} from "./open-vector-cache.ts";

/** Points on a circle, of length 1. */
const at = (angle: number) => Float32Array.of(Math.cos(angle), Math.sin(angle));
const row = (chunkId: string, angle: number) => ({ chunkId, embedding: at(angle) });
const closest = (table: ReturnType<typeof createVectorTable>, angle: number, limit = 10) =>
  findClosestRows([table], at(angle), limit).map(({ chunkId }) => chunkId);

describe("a table of embeddings", () => {
  test("finds the closest first, over several tables, and no more than wanted", () => {
    const [one, two] = [createVectorTable(2, 2), createVectorTable(2, 1)];
    addRows(one, [row("a", 1), row("b", 2)]);
    addRows(two, [row("c", 1.1)]);
    expect(findClosestRows([one, two], at(1.09), 2).map(({ chunkId }) => chunkId)).toEqual(["c", "a"]);
    expect(findClosestRows([one, two], at(1), 1)).toEqual([{ chunkId: "a", cosine: expect.closeTo(1, 5) }]);
    expect(findClosestRows([], at(1), 1)).toEqual([]);
    expect(findCosine([one, two], at(1.09), "c")).toBeCloseTo(Math.cos(0.01), 5);
    expect(findCosine([one, two], at(1), "nobody")).toBeUndefined();
  });

  test("keeps what it has while it grows, shrinks and changes", () => {
    const table = createVectorTable(2, 1);
    addRows(table, [row("a", 0), row("b", 0.1), row("c", 0.2)]);
    addRows(table, [row("d", 0.3), row("a", 0.4)]);
    expect(closest(table, 0)).toEqual(["b", "c", "d", "a"]);
    removeRow(table, "b");
    removeRow(table, "a");
    removeRow(table, "nobody");
    expect(closest(table, 0)).toEqual(["c", "d"]);
    addRows(table, [row("b", 0)]);
    expect(closest(table, 0)).toEqual(["b", "c", "d"]);
    for (const id of ["b", "c", "d"]) removeRow(table, id);
    expect(closest(table, 0)).toEqual([]);
  });

  test("computes cosines of any length of embeddings", () => {
    for (const dimensions of [1, 3, 4, 7, 768]) {
      const embedding = Float32Array.from({ length: dimensions }, (_, position) => Math.sin(position + 1));
      const table = createVectorTable(dimensions, 1);
      addRows(table, [{ chunkId: "a", embedding }]);
      const squares = embedding.reduce((sum, number) => sum + number * number, 0);
      expect(compareRows(table, embedding)[0]).toBeCloseTo(squares, 3);
    }
  });

  test("takes about the memory that is said", () => {
    expect(sizeOfTable(20_000, 768)).toBeLessThan(75 * 1024 * 1024);
    expect(sizeOfTable(20_000, 768)).toBeGreaterThan(20_000 * 768 * 4);
  });
});

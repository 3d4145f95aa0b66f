// Fits the weights by which an answer is chosen and its confidence is stated, on sets of questions about documents.
//   node scripts/run.mjs eval/src/fit-answers.ts FOLDER-OF-SETS [--write] [--dump FILE]
// Each set is a folder with docs/ and questions.jsonl (see `readQuestionSets`). Figures are taken by leaving out one group
// of sets after the other: sets of one subject in two languages are one group. What the bases of other sets have for a
// question is a wrong answer to the gate and a wrong choice to routing. --write puts weights that are fitted on all sets into
// packages/agents/data/answer-weights.json. --dump keeps what the searches found, so that the next run is quick.
import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { answerWeights, readQuestion, chooseParts, gateFigures, ratePassages, stepsBonus } from "@svc/agents";
import { repositoryPath } from "@svc/testing";
import { fitChoice, fitGate, weigh } from "./fit-models.ts";
import { findForQuestions, holdsAnswer, readQuestionSets } from "./evaluate-real-life.ts";
import type { FoundQuestion } from "./evaluate-real-life.ts";
import { readJsonLines } from "./read-set.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean" }, dump: { type: "string" } },
});
type Question = ReturnType<typeof readQuestion>;
type Passage = ReturnType<typeof ratePassages>[number];
type Part = Passage["parts"][number];
type AnswerWeights = ReturnType<typeof answerWeights>;

/** Candidates of a knowledge base for a question; `holds` tests whether a text answers it. */
interface Candidates<Rated extends Passage = Passage> {
  found: FoundQuestion["found"];
  question: Question;
  passages: Rated[];
  holds: (text: string, of?: "every" | "some") => boolean;
}

/** A question with its rated passages and parts, and the candidates of other knowledge bases. */
interface Row extends Candidates<Passage & { isRight: boolean; parts: (Part & { isRight: boolean })[] }> {
  set: string;
  group: string;
  expect: string | undefined;
  others: Candidates[];
}

/** The chosen answer; without figures if nothing was found. */
interface Judged {
  figures: Record<string, number> | null;
  isRight: boolean;
  confidence: number;
  chars: number;
}
type Outcome = Omit<Row, "others"> & Judged & { others: Judged[] };

const NONE: AnswerWeights = { passage: {}, part: {}, gate: {}, route: {} };

/**
 * Weight in the gate of a question to an unrelated knowledge base, relative to one to its own, because most messages
 * reach their own.
 */
const ELSEWHERE_WEIGHT = 0.3;

const asked = await readAsked();
const rows = asked.map(readRow);
const groups = [...new Set(rows.map(({ group }) => group))];
const outcomes = groups.flatMap((group): Outcome[] => {
  // A single group cannot be left out: it is evaluated with the product's weights.
  const weights = groups.length < 2 ? answerWeights() : fit(rows.filter((row) => row.group !== group));
  return rows
    .filter((row) => row.group === group)
    .map((row) => ({ ...row, ...judge(row, weights), others: row.others.map((other) => judge(other, weights)) }));
});
report("all sets", outcomes);
reportElsewhere(outcomes);
for (const set of new Set(outcomes.map((row) => row.set)))
  report(
    set,
    outcomes.filter((row) => row.set === set),
    [0.6],
  );
const SIZES: [name: string, isIn: (passages: number) => boolean][] = [
  ["up to 200 passages", (n) => n <= 200],
  ["201 to 3,000 passages", (n) => n > 200 && n <= 3000],
  ["over 3,000 passages", (n) => n > 3000],
];
for (const [name, isIn] of SIZES)
  report(
    name,
    outcomes.filter(({ found }) => isIn(found.passageCount)),
    [0.5, 0.6, 0.7],
  );

if (values.write) {
  const file = repositoryPath("packages/agents/data/answer-weights.json");
  const rounded = (_: string, value: unknown) => (typeof value === "number" ? Math.round(value * 1e4) / 1e4 : value);
  writeFileSync(file, `${JSON.stringify(fit(rows), rounded, 2)}\n`);
  console.log(`written: ${file}`);
}

async function readAsked(): Promise<FoundQuestion[]> {
  if (values.dump !== undefined && existsSync(values.dump)) return readJsonLines(values.dump);
  const found = await findForQuestions(readQuestionSets(positionals[0] ?? ""));
  if (values.dump !== undefined) writeFileSync(values.dump, found.map((row) => JSON.stringify(row)).join("\n"));
  return found;
}

/** Returns a question with its rated passages and parts. */
function readRow({ set, group, expect, all, asked, found, elsewhere = [] }: FoundQuestion): Row {
  const question = readQuestion(asked, found);
  const holds: Row["holds"] = (source, of = "some") => expect === "answer" && holdsAnswer(source, all, of);
  const rated = ratePassages(question, found);
  const passages = rated.map((passage) => ({
    ...passage,
    isRight: holds(passage.read.passage.text),
    parts: passage.parts.map((one) => ({
      ...one,
      isRight: holds(passage.read.passage.text.slice(one.part.start, one.part.end)),
    })),
  }));
  const others = elsewhere.map((other) => {
    const read = readQuestion(asked, other);
    return { found: other, question: read, passages: ratePassages(read, other), holds: () => false };
  });
  return { set, group, expect, found, question, passages, holds, others };
}

function fit(training: readonly Row[]): AnswerWeights {
  const sizes = new Map<string, number>();
  for (const { group } of training) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const weightOf = ({ group }: Row) => 1 / Math.sqrt(sizes.get(group) ?? 1);
  const passage = fitChoice(training.map((row) => ({ weight: weightOf(row), candidates: row.passages })));
  const part = fitChoice(
    training.flatMap((row) =>
      row.passages
        .filter(({ isRight }) => isRight)
        .slice(0, 2)
        .map(({ parts }) => ({ weight: weightOf(row), candidates: parts })),
    ),
  );
  const weights = { ...NONE, passage, part };
  const judged = training.map((row) => ({
    weight: weightOf(row),
    own: judge(row, weights),
    others: row.others.map((other) => judge(other, weights)),
  }));
  const gate = fitGate(
    judged
      .flatMap(({ weight, own, others }) => [
        { ...own, weight },
        ...others.map((other) => ({ ...other, weight: weight * ELSEWHERE_WEIGHT })),
      ])
      .flatMap((one) => (one.figures === null ? [] : [{ ...one, figures: one.figures }])),
  );
  const answerable = judged.filter((_, at) => training[at]?.expect === "answer");
  return { ...weights, gate, route: fitRoute(answerable) };
}

/**
 * Fits weights that distinguish the right knowledge base from others by the figures of their best answers; a wrong one
 * has 0 on average.
 */
function fitRoute(judged: readonly { own: Judged; others: Judged[] }[]) {
  const read = judged.map(({ own, others }) => ({
    weight: 1,
    candidates: [own, ...others].map(({ figures }, at) => ({ figures: figures ?? {}, isRight: at === 0 })),
  }));
  const route = fitChoice(read);
  const wrong = read.flatMap(({ candidates }) => candidates.filter(({ isRight }) => !isRight));
  const mean = wrong.reduce((sum, { figures }) => sum + weigh(figures, route), 0) / Math.max(1, wrong.length);
  return { bias: -mean, ...route };
}

function judge({ question, found, passages, holds }: Candidates, weights: AnswerWeights): Judged {
  const ranked = passages
    .map((one) => ({ ...one, value: weigh(one.figures, weights.passage) + stepsBonus(one.figures) }))
    .sort((a, b) => b.value - a.value);
  const [first] = ranked;
  if (first === undefined) return { figures: null, isRight: false, confidence: 0, chars: 0 };
  const { best, others, lead } = chooseParts(first, weights);
  const text = [best.part, ...others].map(({ start, end }) => first.read.passage.text.slice(start, end)).join("\n");
  const figures = gateFigures(question, found, ranked, { best, lead });
  const confidence = 1 / (1 + Math.exp(-(weights.gate["bias"] ?? 0) - weigh(figures, weights.gate)));
  return { figures, isRight: holds(text, "every"), confidence, chars: text.length };
}

function report(name: string, list: readonly Outcome[], thresholds = [0.5, 0.6, 0.7, 0.8, 0.9]) {
  const answerable = list.filter(({ expect }) => expect === "answer");
  const held = list.filter(({ expect }) => expect !== "answer");
  const share = (part: readonly unknown[], whole: readonly unknown[]) =>
    whole.length === 0 ? "-" : (part.length / whole.length).toFixed(3);
  const chars = answerable
    .filter(({ isRight }) => isRight)
    .map((row) => row.chars)
    .sort((a, b) => a - b);
  console.log(
    `${name}: ${list.length} questions, ${answerable.length} answerable, chosen rightly ${share(
      answerable.filter(({ isRight }) => isRight),
      answerable,
    )}, calibration error ${calibrationError(list).toFixed(3)}, median characters ${chars[chars.length >> 1] ?? 0}`,
  );
  for (const threshold of thresholds) {
    const sent = list.filter(({ confidence }) => confidence >= threshold);
    const right = sent.filter(({ isRight }) => isRight);
    const wrong = sent.filter(({ isRight }) => !isRight);
    console.log(
      `  from ${threshold}: sent and right ${share(right, answerable)} of the answerable, right among the sent ${share(right, sent)}, wrong ${share(wrong, list)} of all, rightly held ${share(
        held.filter(({ confidence }) => confidence < threshold),
        held,
      )}`,
    );
  }
}

/** Reports the answers of unrelated knowledge bases. */
function reportElsewhere(list: readonly Outcome[]) {
  const others = list.flatMap(({ others }) => others);
  const held = [0.5, 0.6].map((threshold) => {
    const share = others.filter(({ confidence }) => confidence < threshold).length / Math.max(1, others.length);
    return `${share.toFixed(3)} held at ${threshold}`;
  });
  console.log(`in bases of other sets: ${others.length} questions, ${held.join(", ")}`);
}

/** Returns the mean difference between the stated confidence and the share of right answers, over ten bins. */
function calibrationError(list: readonly Judged[]) {
  const classes = Array.from({ length: 10 }, (_, at) =>
    list.filter(({ confidence }) => Math.min(9, Math.floor(confidence * 10)) === at),
  );
  const gap = (rows: readonly Judged[]) =>
    Math.abs(rows.reduce((sum, { confidence, isRight }) => sum + confidence - (isRight ? 1 : 0), 0));
  return classes.reduce((sum, rows) => sum + gap(rows), 0) / Math.max(1, list.length);
}

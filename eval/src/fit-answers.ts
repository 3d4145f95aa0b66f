// Fits the weights by which an answer is chosen and its confidence is stated, on sets of questions about documents.
//   node scripts/run.mjs eval/src/fit-answers.ts FOLDER-OF-SETS… [--write] [--dump FILE]
// Each set is a folder with docs/ and questions.jsonl (see read-questions.mjs). Figures are taken by leaving out some groups
// of sets after the others: sets of one subject in two languages are one group. What the bases of other sets have for a
// question is a wrong answer to the gate and a wrong choice to routing. --write puts weights that are fitted on all sets into
// packages/agents/data/answer-weights.json. --dump keeps what the searches found, so that the next run is quick. With
// --stored, the weights that the product has are judged instead.
import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import {
  answerWeights,
  chooseParts,
  gateFigures,
  rankPassages,
  ratePassages,
  readQuestion,
  writeAnswer,
} from "@svc/agents";
import { repositoryPath } from "@svc/testing";
import { fitChoice, fitGate, weigh } from "./fit-models.ts";
import { findForQuestions, holdsAnswer, readQuestionSets } from "./read-questions.ts";
import type { FoundQuestion } from "./read-questions.ts";
import { readJsonLines } from "./read-set.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean" }, dump: { type: "string" }, stored: { type: "boolean" } },
});
type Question = ReturnType<typeof readQuestion>;
type Passage = ReturnType<typeof ratePassages>[number];
type AnswerWeights = ReturnType<typeof answerWeights>;

/** What a knowledge base has for a question; `holds` says whether a text answers it. */
interface Candidates {
  found: FoundQuestion["found"];
  question: Question;
  passages: readonly Passage[];
  holds: (text: string, of?: "every" | "some") => boolean;
}

/** A question with its rated passages, which of their parts are right, and what other bases have for it. */
interface Row extends Candidates {
  set: string;
  group: string;
  expect: string | undefined;
  rightParts: ReadonlySet<object>;
  others: Candidates[];
  /** What its own base would have if it did not have the answer; null where it has none. */
  withoutAnswer: Candidates | null;
}

/** What was chosen as the answer; without figures where nothing was found. */
interface Judged {
  figures: Record<string, number> | null;
  isRight: boolean;
  confidence: number;
  chars: number;
}
type Outcome = Omit<Row, "others"> & Judged & { others: Judged[] };

/**
 * What a question in a base that is not about it, and in its own base without the passages that answer it, counts to the gate,
 * beside one in its own: customers ask much that no document answers.
 */
const ELSEWHERE_WEIGHT = 0.3;
const WITHOUT_ANSWER_WEIGHT = 1;

/** Figures that only the gate counts. */
const NOT_CHOSEN_BY = /^passage\.(?:unknown|unknownName|nearSynonyms)$|^part\.maxMissing$/;

/** In how many parts the groups are divided, to be left out in turns: for the figures, and within them for the gate. */
const FOLDS = 8;
const GATE_FOLDS = 4;

const asked = await readAsked();
const rows = asked.map(readRow);
const groups = [...new Set(rows.map(({ group }) => group))];
const folds = values.stored === true ? [groups] : foldsOf(groups, FOLDS);
const outcomes = folds.flatMap((fold): Outcome[] => {
  const weights = values.stored === true ? answerWeights() : fit(rows.filter(({ group }) => !fold.includes(group)));
  return rows
    .filter(({ group }) => fold.includes(group))
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
  const found = await findForQuestions(positionals.flatMap(readQuestionSets));
  if (values.dump !== undefined) writeFileSync(values.dump, found.map((row) => JSON.stringify(row)).join("\n"));
  return found;
}

/** Divides groups into so many parts. */
function foldsOf(all: readonly string[], count: number): string[][] {
  const parts = Array.from({ length: Math.min(count, all.length) }, (_, at) => at);
  return parts.map((at) => all.filter((_, place) => place % parts.length === at));
}

/** Returns a question with its rated passages. */
function readRow({ set, group, expect, all, asked, found, elsewhere = [] }: FoundQuestion): Row {
  const question = readQuestion(asked, found);
  const holds: Row["holds"] = (source, of = "some") => expect === "answer" && holdsAnswer(source, all, of);
  const passages = ratePassages(question, found);
  const parts = passages.flatMap(({ read, parts }) => parts.map(({ part }) => ({ read, part })));
  const wantsSteps = question.kind === "steps";
  const whole = parts.filter(({ read, part }) =>
    holds(writeAnswer({ read, best: part, others: [] }, { wantsSteps }).text, "every"),
  );
  const right = whole.length > 0 ? whole : parts.filter(({ read: { passage }, part }) => holds(passage.text.slice(part.start, part.end)));
  const lacking = passages.filter(({ read }) => !holds(read.passage.text) && !whole.some((one) => one.read === read));
  const others = elsewhere.map((other) => {
    const read = readQuestion(asked, other);
    return { found: other, question: read, passages: ratePassages(read, other), holds: () => false };
  });
  const withoutAnswer = whole.length === 0 ? null : { found, question, passages: lacking, holds: () => false };
  const rightParts = new Set(right.map(({ part }) => part));
  return { set, group, expect, found, question, passages, rightParts, holds, others, withoutAnswer };
}

function fit(training: readonly Row[]): AnswerWeights {
  const sizes = new Map<string, number>();
  for (const { group } of training) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const weightOf = ({ group }: Row) => 1 / Math.sqrt(sizes.get(group) ?? 1);
  const choiceOf = (some: readonly Row[]) =>
    fitChoice(
      some.map((row) => ({
        weight: weightOf(row),
        candidates: row.passages.flatMap(({ figures, parts }) =>
          parts.map((one) => ({ figures: { ...figures, ...one.figures }, isRight: row.rightParts.has(one.part) })),
        ),
      })),
      NOT_CHOSEN_BY,
    );
  // The gate sees choices as they are on sets that their weights were not fitted on.
  const judged = foldsOf([...sizes.keys()], GATE_FOLDS).flatMap((fold) => {
    const choice = choiceOf(training.filter(({ group }) => !fold.includes(group)));
    const judgeBy = (one: Candidates) => judge(one, { choice, gate: {}, route: {} });
    return training
      .filter(({ group }) => fold.includes(group))
      .map((row) => ({
        row,
        own: judgeBy(row),
        others: row.others.map(judgeBy),
        withoutAnswer: row.withoutAnswer === null ? [] : [judgeBy(row.withoutAnswer)],
      }));
  });
  const gate = fitGate(
    judged
      .flatMap(({ row, own, others, withoutAnswer }) => [
        { ...own, weight: weightOf(row) },
        ...others.map((other) => ({ ...other, weight: weightOf(row) * ELSEWHERE_WEIGHT })),
        ...withoutAnswer.map((other) => ({ ...other, weight: weightOf(row) * WITHOUT_ANSWER_WEIGHT })),
      ])
      .flatMap((one) => (one.figures === null ? [] : [{ ...one, figures: one.figures }])),
  );
  const route = fitRoute(judged.filter(({ row }) => row.expect === "answer"));
  return { choice: choiceOf(training), gate, route };
}

/** Weights that tell the right knowledge base from others by the figures of their best answers; a wrong one has 0 on average. */
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
  const ranked = rankPassages(passages, found, weights);
  const [first] = ranked;
  if (first === undefined) return { figures: null, isRight: false, confidence: 0, chars: 0 };
  const { best, others } = chooseParts(first);
  const { text } = writeAnswer({ read: first.read, best: best.part, others }, { wantsSteps: question.kind === "steps" });
  const figures = gateFigures(question, found, ranked);
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

/** What bases that a question is not about have for it. */
function reportElsewhere(list: readonly Outcome[]) {
  const others = list.flatMap(({ others }) => others);
  const held = [0.5, 0.6].map((threshold) => {
    const share = others.filter(({ confidence }) => confidence < threshold).length / Math.max(1, others.length);
    return `${share.toFixed(3)} held at ${threshold}`;
  });
  console.log(`in bases of other sets: ${others.length} questions, ${held.join(", ")}`);
}

/** The mean distance of the stated confidence from the share that is right, over ten classes of confidence. */
function calibrationError(list: readonly Judged[]) {
  const classes = Array.from({ length: 10 }, (_, at) =>
    list.filter(({ confidence }) => Math.min(9, Math.floor(confidence * 10)) === at),
  );
  const gap = (rows: readonly Judged[]) =>
    Math.abs(rows.reduce((sum, { confidence, isRight }) => sum + confidence - (isRight ? 1 : 0), 0));
  return classes.reduce((sum, rows) => sum + gap(rows), 0) / Math.max(1, list.length);
}

// Fits the weights by which an answer is chosen and its confidence is stated, on sets of questions about documents.
//   node scripts/run.mjs eval/src/fit-answers.ts FOLDER-OF-SETS [--write] [--dump FILE]
// Each set is a folder with docs/ and questions.jsonl (see read-questions.mjs). Figures are taken by leaving out one group
// of sets after the other: sets of one subject in two languages are one group. What the bases of other sets have for a
// question is a wrong answer to the gate and a wrong choice to routing. --write puts weights that are fitted on all sets into
// packages/agents/data/answer-weights.json. --dump keeps what the searches found, so that the next run is quick.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { answerWeights, readQuestion, chooseParts, gateFigures, ratePassages, stepsBonus } from "@svc/agents";
import { repositoryPath } from "@svc/testing";
import { fitChoice, fitGate, weigh } from "./fit-models.ts";
import { findForQuestions, holdsAnswer, readQuestionSets } from "./read-questions.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: "boolean" }, dump: { type: "string" } },
});
const NONE = { passage: {}, part: {}, gate: {} };

/** What a question in a base that is not about it counts to the gate, beside one in its own: most messages are in theirs. */
const ELSEWHERE_WEIGHT = 0.3;

const asked = await readAsked();
const rows = asked.map(readRow);
const groups = [...new Set(rows.map(({ group }) => group))];
const outcomes = groups.flatMap((group) => {
  // A single group cannot be left out: it is judged by the weights that the product has.
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
for (const [name, isIn] of [
  ["up to 200 passages", (n) => n <= 200],
  ["201 to 3,000 passages", (n) => n > 200 && n <= 3000],
  ["over 3,000 passages", (n) => n > 3000],
])
  report(
    name,
    outcomes.filter(({ found }) => isIn(found.passageCount)),
    [0.5, 0.6, 0.7],
  );

if (values.write) {
  const file = repositoryPath("packages/agents/data/answer-weights.json");
  const rounded = (_, value) => (typeof value === "number" ? Math.round(value * 1e4) / 1e4 : value);
  writeFileSync(file, `${JSON.stringify(fit(rows), rounded, 2)}\n`);
  console.log(`written: ${file}`);
}

async function readAsked() {
  if (values.dump !== undefined && existsSync(values.dump)) {
    return readFileSync(values.dump, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }
  const found = await findForQuestions(readQuestionSets(positionals[0]));
  if (values.dump !== undefined) writeFileSync(values.dump, found.map((row) => JSON.stringify(row)).join("\n"));
  return found;
}

/** A question with its rated passages; `answers` says which passages and parts hold the answer. */
function readRow({ set, group, text, expect, all, asked, found, elsewhere = [] }) {
  const question = readQuestion(asked, found);
  const holds = (source, of = "some") => expect === "answer" && holdsAnswer(source, all, of);
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
  return { set, group, text, expect, found, question, passages, holds, others };
}

function fit(training) {
  const sizes = Map.groupBy?.(training, ({ group }) => group) ?? groupBy(training);
  const weightOf = ({ group }) => 1 / Math.sqrt(sizes.get(group).length);
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
      .filter(({ figures }) => figures !== null),
  );
  const answerable = judged.filter((_, at) => training[at].expect === "answer");
  return { ...weights, gate, route: fitRoute(answerable) };
}

/** Weights that tell the right knowledge base from others by the figures of their best answers; a wrong one has 0 on average. */
function fitRoute(judged) {
  const read = judged.map(({ own, others }) => ({
    weight: 1,
    candidates: [own, ...others].map(({ figures }, at) => ({ figures: figures ?? {}, isRight: at === 0 })),
  }));
  const route = fitChoice(read);
  const wrong = read.flatMap(({ candidates }) => candidates.filter(({ isRight }) => !isRight));
  const mean = wrong.reduce((sum, { figures }) => sum + weigh(figures, route), 0) / Math.max(1, wrong.length);
  return { bias: -mean, ...route };
}

function groupBy(list) {
  const map = new Map();
  for (const row of list) map.set(row.group, [...(map.get(row.group) ?? []), row]);
  return map;
}

function judge({ question, found, passages, holds }, weights) {
  if (passages.length === 0) return { figures: null, isRight: false, confidence: 0, chars: 0 };
  const ranked = passages
    .map((one) => ({ ...one, value: weigh(one.figures, weights.passage) + stepsBonus(one.figures) }))
    .sort((a, b) => b.value - a.value);
  const { best, others, lead } = chooseParts(ranked[0], weights);
  const text = [best.part, ...others].map(({ start, end }) => ranked[0].read.passage.text.slice(start, end)).join("\n");
  const figures = gateFigures(question, found, ranked, { best, lead });
  const confidence = 1 / (1 + Math.exp(-(weights.gate.bias ?? 0) - weigh(figures, weights.gate)));
  return { figures, isRight: holds(text, "every"), confidence, chars: text.length };
}

function report(name, list, thresholds = [0.5, 0.6, 0.7, 0.8, 0.9]) {
  const answerable = list.filter(({ expect }) => expect === "answer");
  const held = list.filter(({ expect }) => expect !== "answer");
  const share = (part, whole) => (whole.length === 0 ? "-" : (part.length / whole.length).toFixed(3));
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
function reportElsewhere(list) {
  const others = list.flatMap(({ others }) => others);
  const held = [0.5, 0.6].map((threshold) => {
    const share = others.filter(({ confidence }) => confidence < threshold).length / Math.max(1, others.length);
    return `${share.toFixed(3)} held at ${threshold}`;
  });
  console.log(`in bases of other sets: ${others.length} questions, ${held.join(", ")}`);
}

/** The mean distance of the stated confidence from the share that is right, over ten classes of confidence. */
function calibrationError(list) {
  const classes = Array.from({ length: 10 }, (_, at) =>
    list.filter(({ confidence }) => Math.min(9, Math.floor(confidence * 10)) === at),
  );
  const gap = (rows) =>
    Math.abs(rows.reduce((sum, { confidence, isRight }) => sum + confidence - (isRight ? 1 : 0), 0));
  return classes.reduce((sum, rows) => sum + gap(rows), 0) / Math.max(1, list.length);
}

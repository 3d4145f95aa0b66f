import type { ReviewPolicy } from "@svc/contracts";
import type { LinePrediction } from "./judge-line.ts";
import type { Calibration } from "./measures.ts";
import type { AgentPolicy, EvalResult, EvalScores } from "./score-lines.ts";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../terminal.ts";
import type { Terminal } from "../terminal.ts";

const TEXT_CHARS = 240;
const NAME_CHARS = 80;
const SHOWN_NAMES = 3;
const SHOWN_AGENTS = 10;

type View = Pick<Terminal, "paint" | "width">;
type Row = [measure: string, figure: string, of: string];

const figure = (number: number | null) => (number === null ? "–" : number.toFixed(3));
const percent = (share: number | null) => (share === null ? "–" : `${Math.round(share * 100)} %`);
const some = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

function triageRows({ triage }: EvalScores): Row[] {
  if (triage === null) return [];
  const { right, lines, accuracy, noneLines, noneRecall, noneChosen, nonePrecision } = triage;
  const none: Row[] = [
    [
      "  no agent: recall",
      figure(noneRecall),
      `of ${some(noneLines, "message")} that ${noneLines === 1 ? "needs" : "need"} no agent`,
    ],
    ["  no agent: precision", figure(nonePrecision), `of ${some(noneChosen, "message")} without an agent`],
  ];
  return [
    ["Routing: correct agent", figure(accuracy), `${right} of ${some(lines, "message")}`],
    ...(noneLines + noneChosen === 0 ? [] : none),
  ];
}

function retrievalRows({ retrieval }: EvalScores): Row[] {
  if (retrieval === null) return [];
  const of = `of ${some(retrieval.lines, "message")}`;
  return [
    ["Retrieval: correct document first (hit@1)", figure(retrieval.hit1), of],
    ["  among the first three (hit@3)", figure(retrieval.hit3), of],
    ["  MRR", figure(retrieval.mrr10), "mean of 1 / rank; 0 below the tenth"],
    ["  nDCG@10", figure(retrieval.ndcg10), ""],
  ];
}

function answerRows({ answers }: EvalScores): Row[] {
  if (answers === null) return [];
  const { lines, right, wrong, handedOver, handedOverRight, rightShare, falseRefusals, refusalLines, refused } =
    answers;
  const held = handedOverRight === 0 ? "" : `; ${handedOverRight} of them with the correct answer`;
  const toAnswer: Row[] = [
    ["Answers: correct", figure(rightShare), `${right} of ${some(lines, "message")}`],
    ["  wrong", figure(wrong / lines), `${wrong}`],
    ["  handed over (false refusals)", figure(falseRefusals), `${handedOver}${held}`],
  ];
  const toRefuse: Row[] = [
    [
      "Handoffs: correct",
      figure(answers.rightRefusals),
      `${refused} of ${some(refusalLines, "message")} that ${refusalLines === 1 ? "needs" : "need"} an operator`,
    ],
  ];
  return [...(lines === 0 ? [] : toAnswer), ...(refusalLines === 0 ? [] : toRefuse)];
}

function calibrationRows({ calibration }: EvalScores): Row[] {
  const rowOf = (what: string, measured: Calibration | null): Row[] =>
    measured === null
      ? []
      : [
          [
            `Calibration error of ${what}`,
            figure(measured.error),
            `mean confidence ${percent(measured.meanConfidence)}, correct ${percent(measured.rightShare)}`,
          ],
        ];
  return [...rowOf("triage", calibration.triage), ...rowOf("answers", calibration.answers)];
}

function timeRows({ ms }: EvalScores, learnSeconds: number | null): Row[] {
  const learned = learnSeconds === null ? "" : `; routing was ready after ${learnSeconds.toFixed(1)} s`;
  return [
    [
      "Milliseconds per message",
      ms.mean === null ? "–" : ms.mean.toFixed(1),
      `95th percentile ${ms.p95 === null ? "–" : ms.p95.toFixed(1)}${learned}`,
    ],
  ];
}

const POLICY_TEXTS: Record<ReviewPolicy, (threshold: number) => string> = {
  auto: () => "sends every answer",
  auto_if: (threshold) => `sends answers from confidence ${threshold}`,
  review: (threshold) => `is always reviewed (evaluated with threshold ${threshold})`,
};

/** Returns the current thresholds of the agents, for comparison with the table. */
function renderPolicies(policies: readonly AgentPolicy[]): string {
  const shown = policies
    .slice(0, SHOWN_AGENTS)
    .map(
      ({ agent, reviewPolicy, autoThreshold }) =>
        `${safeLine(agent, NAME_CHARS)} ${POLICY_TEXTS[reviewPolicy](autoThreshold)}`,
    );
  const rest = policies.length - shown.length;
  return `Now: ${shown.join("; ")}${rest > 0 ? `; and ${rest} more agents` : ""}.`;
}

/** Returns the result of an evaluation as tables. */
export function renderScores({ scores, policies, learnSeconds }: Omit<EvalResult, "worst">, view: View): string {
  const { paint, width } = view;
  const { scored, asExpected, score, lines, thresholds } = scores;
  const silent = lines - scored;
  const rest = silent === 0 ? "" : `; ${silent} without expected results`;
  const rows: Row[] = [
    [paint.bold("Lines as expected"), paint.bold(figure(score)), `${asExpected} of ${scored}${rest}`],
    ...triageRows(scores),
    ...retrievalRows(scores),
    ...answerRows(scores),
    ...calibrationRows(scores),
    ...timeRows(scores, learnSeconds),
  ];
  const table = renderTable(["MEASURE", "FIGURE", "OF"], rows, width);
  if (thresholds.length === 0) return table;
  const thresholdRows = thresholds.map(({ threshold, answered, right, wrong }) => [
    threshold.toFixed(1),
    String(answered),
    String(right),
    String(wrong),
    percent(answered === 0 ? null : right / answered),
  ]);
  const heads = ["THRESHOLD", "ANSWERED", "RIGHT", "WRONG", "CORRECT OF THESE"];
  return [table, "", renderTable(heads, thresholdRows, width), renderPolicies(policies)].join("\n");
}

const quoted = (text: string) => `"${safeLine(text, TEXT_CHARS)}"`;

/** Returns the first few of several names, in quotation marks. */
function someOf(names: readonly string[]): string {
  const rest = names.length - SHOWN_NAMES;
  return names.slice(0, SHOWN_NAMES).map(quoted).join(" or ") + (rest > 0 ? ` or ${rest} more` : "");
}

function expectedOf({ expected: { agent, document, answer } }: LinePrediction): string {
  return [
    ...(agent === undefined ? [] : [agent === null ? "no agent" : `agent ${safeLine(agent, NAME_CHARS)}`]),
    ...(document === undefined ? [] : [document === null ? "no document" : `document ${someOf(document)}`]),
    ...(answer === undefined ? [] : [answer === null ? "handed over to an operator" : `answer with ${someOf(answer)}`]),
  ].join("; ");
}

function gotOf(prediction: LinePrediction): string {
  const { expected, agent, agentConfidence, documents, place: position, answer, answerConfidence, isSent } = prediction;
  const first = documents.slice(0, SHOWN_NAMES).map((key) => safeLine(key, NAME_CHARS));
  const found = first.length === 0 ? "no document" : `documents ${first.join(", ")}`;
  const where = position === null ? "not in the top ten" : `rank ${position}`;
  const hasDocument = expected.document !== undefined && expected.document !== null;
  const said =
    answer === null
      ? "handed over, without an answer"
      : `${isSent ? "answered" : "handed over"} (confidence ${percent(answerConfidence)}) ${quoted(answer)}`;
  return [
    `${agent === null ? "no agent" : `agent ${safeLine(agent, NAME_CHARS)}`} (confidence ${percent(agentConfidence)})`,
    ...(hasDocument ? [`${found} (${where})`] : []),
    said,
  ].join("; ");
}

/** Returns the worst lines, each with the message, the expected and the actual result, and the reason. */
export function renderWorst(worst: readonly LinePrediction[], { paint, width }: View): string {
  // Each fact has its own row: cli-table3 is slow with long cells of several lines.
  const rows = worst.flatMap((prediction) => [
    [String(prediction.line), paint.bold(quoted(prediction.text))],
    ["", `expected: ${expectedOf(prediction)}`],
    ["", `got: ${gotOf(prediction)}`],
    ["", `why: ${[prediction.agentWhy, prediction.answerWhy].map((why) => safeLine(why, TEXT_CHARS)).join(" ")}`],
  ]);
  return renderTable(["LINE", "NOT AS EXPECTED, WORST FIRST"], rows, width);
}

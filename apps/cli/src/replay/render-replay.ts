import type { ReplayItem, ReplayResult, ReplaySide } from "@svc/contracts";
import { diffWordsWithSpace } from "diff";
import { renderTable } from "../render-table.ts";
import { safeLine, safeText } from "../safe-text.ts";
import type { Paint, Terminal } from "../terminal.ts";

/** Texts that differ in more words than these are shown one after the other: finding out where takes ever longer. */
const MAX_EDITS = 400;

const figure = (share: number | null) => (share === null ? "-" : share.toFixed(3));
const indent = (text: string) => text.replaceAll(/^/gm, "  ");

/** What changes from one text to the other: taken out in red, put in in green; in brackets where there are no colours. */
export function renderChange(before: string, after: string, paint: Paint): string {
  const [old, changed] = [safeText(before), safeText(after)];
  const isColoured = paint.red("x") !== "x";
  const removed = (text: string) => (isColoured ? paint.red(text) : `[-${text}-]`);
  const added = (text: string) => (isColoured ? paint.green(text) : `{+${text}+}`);
  const parts = diffWordsWithSpace(old, changed, { maxEditLength: MAX_EDITS });
  if (parts === undefined) return `${removed(old)}\n${added(changed)}`;
  return parts
    .map((part) => (part.removed ? removed(part.value) : part.added ? added(part.value) : part.value))
    .join("");
}

const VERDICTS: Record<ReplayItem["verdict"], (paint: Paint) => string> = {
  better: (paint) => paint.green("better"),
  worse: (paint) => paint.red("worse"),
  same: (paint) => paint.dim("same"),
};

const DECISIONS: Record<ReplayItem["decision"], string> = {
  approve: "approved",
  edit: "edited",
  reply: "written by an operator",
};

function renderSide(name: string, side: ReplaySide, paint: Paint): string {
  const fate = side.sends ? "sent" : `held: ${safeLine(side.sendsWhy, 200)}`;
  const sources = side.sources.map(({ title }) => safeLine(title, 60));
  const from = sources.length === 0 ? "" : `  from ${[...new Set(sources)].join(", ")}`;
  const figures = `F1 ${figure(side.tokenF1)}  L ${figure(side.rougeL)}  confidence ${Math.round(side.confidence * 100)} %`;
  return `${paint.bold(name)}  ${figures}  ${fate}${from}`;
}

function renderItem(item: ReplayItem, paint: Paint): string {
  const { before, after } = item;
  const said = (text: string | null) => (text === null ? "(nothing)" : safeText(text));
  const texts =
    before.text === after.text
      ? [renderSide("before", before, paint), renderSide("after ", after, paint), indent(said(after.text))]
      : [
          renderSide("before", before, paint),
          indent(said(before.text)),
          renderSide("after ", after, paint),
          indent(
            before.text === null || after.text === null
              ? said(after.text)
              : renderChange(before.text, after.text, paint),
          ),
        ];
  return [
    `${VERDICTS[item.verdict](paint)}  ${paint.bold(safeLine(item.question, 200))}  ${paint.dim(`ticket ${item.ticketId}`)}`,
    `${paint.bold("sent  ")}  ${DECISIONS[item.decision]}, ${item.decidedAt}`,
    indent(safeText(item.sent.text)),
    ...texts,
  ].join("\n");
}

const repliesOf = (count: number) => (count === 1 ? "1 reply" : `${count} replies`);

/** What a replay found, each reply by itself and then all together. */
export function renderReplay(result: ReplayResult, terminal: Pick<Terminal, "paint" | "width">): string {
  const { agent, against, summary, items, notCompared } = result;
  const { paint } = terminal;
  const isOther = against.id !== agent.id;
  const changed = against.changed.length === 0 ? "nothing" : against.changed.join(", ");
  const head = isOther
    ? `${safeLine(agent.name, 80)} against ${safeLine(against.name, 80)}`
    : `${safeLine(agent.name, 80)}, changed: ${changed}`;
  if (items.length === 0 && notCompared === 0) {
    return `${head}\nNo operator has answered a message of this agent in that period, so there is nothing to compare.`;
  }
  const { before, after } = summary.usage;
  const tokens = (one: typeof before) => String(one.inputTokens + one.outputTokens);
  const table = renderTable(
    ["", "BEFORE", "AFTER"],
    [
      ["Sent without approval", String(summary.sends.before), String(summary.sends.after)],
      ["Common words (F1)", figure(summary.tokenF1.before), figure(summary.tokenF1.after)],
      ["In the same order (L)", figure(summary.rougeL.before), figure(summary.rougeL.after)],
      ["Model tokens", tokens(before), tokens(after)],
    ],
    terminal.width,
  );
  return [
    ...items.map((item) => `${renderItem(item, paint)}\n`),
    head,
    `${repliesOf(summary.replies)}: ${paint.green(`${summary.better} better`)}, ${paint.red(`${summary.worse} worse`)}, ${summary.same} the same`,
    "",
    table,
    "",
    paint.dim("Both answer from the current knowledge bases, which may have changed since then."),
    ...(notCompared === 0
      ? []
      : [
          `Time limit reached: ${repliesOf(notCompared)} ${notCompared === 1 ? "was" : "were"} not compared. Raise --timeout.`,
        ]),
  ].join("\n");
}

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { replayInParts } from "@svc/client";
import type { Client } from "@svc/client";
import { AGENT_LIMITS, REPLAY_LIMITS } from "@svc/contracts";
import type { Agent, ReplayInput, ReplayItem, ReplayResult, ReplaySide } from "@svc/contracts";
import { diffWordsWithSpace } from "diff";
import { parse } from "yaml";
import { errorMessage } from "@svc/primitives";
import { makeApiTarget, withClient } from "../api-client.ts";
import { EXIT, failure, watchInterrupt } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { fetchAgents, pickAgent } from "../as-administrator.ts";
import {
  definedOnly,
  flag,
  list,
  mandatory,
  option,
  projectOption,
  secondsBetween,
  urlOption,
  wholeNumber,
  withDefault,
} from "../options.ts";
import { readInput } from "../read-input.ts";
import { renderTable } from "../render-table.ts";
import { safeLine, safeText } from "../terminal.ts";
import type { Paint, Terminal } from "../terminal.ts";

/**
 * Texts that differ in more words than this are shown one after the other: the time for comparing them grows fast.
 */
const MAX_EDITS = 400;

const figure = (share: number | null) => (share === null ? "-" : share.toFixed(3));
const indent = (text: string) => text.replaceAll(/^/gm, "  ");

/** Returns the difference between two texts: deletions in red, insertions in green; in brackets without colors. */
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

/** Returns the result of a replay: each reply, then the summary. */
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

const MAX_SECONDS = 24 * 60 * 60;
const DEFAULT_MS = 10 * 60_000;

/** Maximum time that a part may take beyond the time limit of its request. */
const TIME_LIMIT_MS = 70_000;

const FILE_NAME = /\.(?:json|ya?ml)$/i;

/** Returns true if an argument is a file: an existing one, one with such an extension, or standard input. */
export function isFile(cli: Pick<Cli, "folder">, against: string): boolean {
  return against === "-" || FILE_NAME.test(against) || existsSync(resolve(cli.folder, against));
}

/** Reads a change of an agent from a file, as YAML 1.2, which includes JSON. Throws CliError `bad_input`. */
async function readChange(cli: Cli, file: string): Promise<ReplayInput["against"]> {
  const expected = { what: "the change of an agent", maxBytes: AGENT_LIMITS.bodyMaxBytes };
  const text = (await readInput(cli, file, expected)).toString("utf8");
  const bad = (reason: string) => failure("bad_input", `${safeLine(file)} is not a valid change: ${reason}`);
  let change: unknown;
  try {
    // Without aliases, so that a small file cannot become a large value.
    change = parse(text, { maxAliasCount: 0, schema: "core" });
  } catch (error) {
    throw bad(safeLine(errorMessage(error), 300));
  }
  if (typeof change === "object" && change !== null && !Array.isArray(change)) return change;
  throw bad('it must be an object with the changed fields, such as {"autoThreshold": 0.6}.');
}

/** Returns what `--against` names: the change in a file, or another agent. */
const readAgainst = async (cli: Cli, agents: readonly Agent[], against: string): Promise<ReplayInput["against"]> =>
  isFile(cli, against) ? readChange(cli, against) : { agentId: pickAgent(agents, against).id };

/** Returns true if more answers got worse than better, or if not all replies were compared. */
export function isWorse({ summary, isComplete }: Pick<ReplayResult, "summary" | "isComplete">): boolean {
  return summary.worse > summary.better || !isComplete;
}

/** Compares in parts until everything is compared or the time is over, and merges the results. */
export async function replayWithin(
  ask: (input: ReplayInput) => Promise<ReplayResult>,
  input: ReplayInput,
  { timeoutMs, onProgress }: { timeoutMs: number; onProgress: (done: number, total: number) => void },
): Promise<ReplayResult> {
  const { summarizeReplay } = await import("@svc/operations");
  const deadline = performance.now() + timeoutMs;
  const leftMs = () => Math.ceil(deadline - performance.now());
  const partMs = () => Math.max(1, Math.min(REPLAY_LIMITS.timeLimitMs, leftMs()));
  let result: ReplayResult | null = null;
  for await (const { first, items, left, usage } of replayInParts(ask, input, partMs)) {
    onProgress(items.length, items.length + left.length);
    result = {
      ...first,
      items: [...items],
      summary: summarizeReplay(items, usage),
      isComplete: left.length === 0,
      notCompared: left.length,
      notComparedTicketIds: [...left],
    };
    if (leftMs() <= 0) break;
  }
  if (result === null) throw new Error("a replay has at least one part");
  return result;
}

/**
 * `svc replay`: compares past replies of operators with answers of an agent, as it is and changed. The running
 * service compares them, because only it has the language models of its agents.
 */
export const replay = defineCommand({
  options: {
    agent: mandatory(option("--agent <name>", "current agent (name or ID)")),
    against: mandatory(
      option("--against <change>", "file with the change, as JSON or YAML, or name or ID of another agent"),
    ),
    limit: withDefault(
      option("--limit <number>", "maximum number of replies, newest first", wholeNumber(1, REPLAY_LIMITS.maxReplies)),
      REPLAY_LIMITS.defaultReplies,
    ),
    from: option("--from <time>", "replies at or after this time, such as 2026-11-21"),
    to: option("--to <time>", "replies before this time"),
    ticket: list("--ticket <id>", "only this ticket, of any agent"),
    timeout: withDefault(
      option("--timeout <seconds>", "time limit", secondsBetween(1, MAX_SECONDS)),
      DEFAULT_MS,
      String(DEFAULT_MS / 1_000),
    ),
    failIfWorse: flag(
      "--fail-if-worse",
      "exit with code 1 if more answers got worse than better, or if not all replies were compared",
    ),
    url: urlOption,
    project: projectOption,
  },
  about: `Compares the current and the changed agent with replies that operators approved, edited or wrote. Both agents answer the
same messages, with the conversation as it was then and the current knowledge. Nothing is sent, stored or changed, and
no tool is called. The running service does the work, with its language models. The file contains the fields to change,
named as in the HTTP API:
  {"autoThreshold": 0.6, "model": "ollama:qwen3:8b", "instructions": "Answer in two sentences."}
F1 is the overlap of words between an answer and the sent reply (token F1), L that of their longest common subsequence of
words (ROUGE-L). An answer is worse if its F1 falls by at least 0.05, or if it would now be sent with an F1 below 0.5; it
is better if its F1 rises by at least 0.05. If only sending changes, and F1 is at least 0.5, an answer is better if it is
now sent, and worse if it is now held.`,
  examples: [
    "replay --agent billing --against change.json",
    "replay --agent billing --against billing-next --limit 100 --fail-if-worse",
    "replay --agent billing --against change.yaml --from 2026-11-01 --json",
  ],
  async run(cli, { agent, against, limit, from, to, ticket, timeout, failIfWorse, url, project }) {
    const { terminal } = cli;
    const target = await makeApiTarget(cli, { project, url });
    const interrupt = watchInterrupt();
    const { signal } = interrupt;
    const compare = async (client: Client): Promise<ReplayResult> => {
      const agents = await fetchAgents(client);
      const { id } = pickAgent(agents, agent);
      const change = await readAgainst(cli, agents, against);
      const input = { against: change, limit, ...definedOnly({ from, to, ticketIds: ticket }) };
      const ask = async (body: ReplayInput) => {
        const { ok: _ok, ...part } = await client.call("replayAgent", { params: { id }, body, signal });
        return part;
      };
      terminal.status("comparing replies");
      const onProgress = (done: number, total: number) => terminal.status(`${done} of ${total} replies compared`);
      return replayWithin(ask, input, { timeoutMs: timeout, onProgress });
    };
    let result: ReplayResult;
    try {
      result = await withClient(target, compare, { timeoutMs: TIME_LIMIT_MS });
    } finally {
      terminal.status(null);
      interrupt.release();
    }
    terminal.show({ ok: true, project, ...result }, () => renderReplay(result, terminal));
    if (failIfWorse === true && isWorse(result)) {
      const { worse, better } = result.summary;
      terminal.note(`${worse} worse, ${better} better: exit code 1, because of --fail-if-worse.`);
      cli.setExitCode(EXIT.failed);
    }
  },
});

import { CHANNEL_IDS, REPORT_TABLES, sumAnswerCounts } from "@svc/contracts";
import type { AnswerCounts, AnswerStats, Stats, StatsInput } from "@svc/contracts";
import { asAdministrator, getAgent } from "../as-administrator.ts";
import type { BoundOperations } from "../as-administrator.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import type { OptionValues } from "../define-command.ts";
import { choice, definedOnly, option, projectOption } from "../options.ts";
import { renderFacts, renderTable } from "../render-table.ts";
import { safeLine, safeText } from "../safe-text.ts";
import { renderDuration, renderReport } from "./report-tables.ts";
import type { Terminal } from "../terminal.ts";

const NAME_CHARS = 40;
const QUESTION_CHARS = 200;
const share = (part: number, whole: number) => (whole === 0 ? "" : ` (${Math.round((100 * part) / whole)} %)`);

type Counts = Omit<Stats["byChannel"][number], "channelId">;

const HEAD = ["MESSAGES", "AUTOMATIC", "HANDOFFS", "EDITS", "FIRST REPLY (MEDIAN, P90)"];
const cellsOf = ({ messages, automatic, handoffs, edits, firstReplyMs }: Counts) => [
  String(messages),
  `${automatic}${share(automatic, messages)}`,
  String(handoffs),
  String(edits),
  `${renderDuration(firstReplyMs.p50)}, ${renderDuration(firstReplyMs.p90)}`,
];

function renderStats(stats: Stats, { width }: Terminal): string {
  const { from, to, messages, automatic, handoffs, edits, firstReplyMs } = stats;
  const table = (head: string[], rows: string[][]) => (rows.length === 0 ? [] : ["", renderTable(head, rows, width)]);
  const nameOf = ({ agentId, name }: Stats["byAgent"][number]) =>
    safeLine(name ?? (agentId === null ? "no agent" : `${agentId} (deleted)`), NAME_CHARS);
  return [
    renderFacts([
      ["from", from],
      ["to", to],
      ["messages", String(messages)],
      ["answered automatically", `${automatic}${share(automatic, messages)}`],
      ["handed over to a person", `${handoffs}${share(handoffs, messages)}`],
      ["drafts edited", String(edits)],
      [
        "time to first reply",
        `median ${renderDuration(firstReplyMs.p50)}, 90th percentile ${renderDuration(firstReplyMs.p90)}`,
      ],
    ]),
    ...table(
      ["CHANNEL", ...HEAD],
      stats.byChannel.map((channel) => [channel.channelId, ...cellsOf(channel)]),
    ),
    ...table(
      ["AGENT", ...HEAD],
      stats.byAgent.map((agent) => [nameOf(agent), ...cellsOf(agent)]),
    ),
    ...table(
      ["LANGUAGE MODEL", "CALLS", "FAILED", "INPUT TOKENS", "OUTPUT TOKENS", "COST"],
      stats.models.map(({ model, calls, faults: errors, inputTokens, outputTokens, costUsd }) => [
        safeLine(model, NAME_CHARS),
        String(calls),
        `${errors}${share(errors, calls)}`,
        String(inputTokens),
        String(outputTokens),
        costUsd === null ? "-" : `$${costUsd.toFixed(2)}`,
      ]),
    ),
    ...table(
      ["COUNT", "LAST ASKED", "QUESTION WITHOUT A GOOD ANSWER"],
      stats.topUnanswered.map(({ question, count, lastAt }) => [
        String(count),
        lastAt.slice(0, 10),
        safeLine(question, QUESTION_CHARS),
      ]),
    ),
  ].join("\n");
}

/** Compared thresholds, in percent. */
const THRESHOLDS = [30, 40, 50, 60, 70, 80, 90];

const ANSWER_HEAD = ["ACCEPTED", "EDITED", "ASKED FOR A PERSON", "NEGATIVE RATING", "REJECTED", "PENDING"];
const answerCellsOf = ({ accepted, edited, askedPerson, ratedBadly, rejected, undecided }: AnswerCounts) =>
  [accepted, edited, askedPerson, ratedBadly, rejected, undecided].map(String);

type AgentStats = AnswerStats["agents"][number];

const agentNameOf = ({ agentId, name }: AgentStats) => safeLine(name ?? `${agentId} (deleted)`, NAME_CHARS);

/** Returns the answers of an agent that each threshold would have sent, with their outcomes. */
function renderThresholds(agent: AgentStats, width: number): string {
  const rows = THRESHOLDS.map((threshold) => {
    const sent = sumAnswerCounts(agent.byConfidence.filter(({ percent }) => percent >= threshold));
    return [`${threshold} %`, `${sent.answers}${share(sent.answers, agent.answers)}`, ...answerCellsOf(sent)];
  });
  return renderTable([`THRESHOLD (${agentNameOf(agent)})`, "WOULD SEND", ...ANSWER_HEAD], rows, width);
}

/** Returns outcomes of the agents' answers; for a single agent also what other thresholds would have sent. */
export function renderAnswerStats({ from, to, agents }: AnswerStats, { width }: Terminal): string {
  const [first] = agents;
  if (first === undefined) return `No agent has answered from ${from} to ${to}.`;
  const rows = agents.map((agent) => [
    agentNameOf(agent),
    agent.autoThreshold === null ? "-" : `${Math.round(agent.autoThreshold * 100)} %`,
    String(agent.answers),
    `${agent.automatic}${share(agent.automatic, agent.answers)}`,
    ...answerCellsOf(agent),
  ]);
  return [
    renderFacts([
      ["from", from],
      ["to", to],
    ]),
    "",
    renderTable(["AGENT", "THRESHOLD", "ANSWERS", "AUTOMATIC", ...ANSWER_HEAD], rows, width),
    ...(agents.length === 1 ? ["", renderThresholds(first, width)] : []),
  ].join("\n");
}

const OPTIONS = {
  from: option("--from <time>", "start, inclusive (UTC; default: 30 days before the end)"),
  to: option("--to <time>", "end, exclusive (UTC; default: now)"),
  channel: choice("--channel <channel>", "only messages of this channel", CHANNEL_IDS),
  agent: option("--agent <name>", "only tickets of this agent"),
  project: projectOption,
};

/** Reads figures of the period, channel and agent that the options name. */
function readFigures<Figures>(
  cli: Cli,
  { project, from, to, channel, agent }: OptionValues<typeof OPTIONS>,
  read: (operations: BoundOperations, input: StatsInput) => Promise<Figures>,
): Promise<Figures> {
  return asAdministrator(cli, project, async (operations) => {
    const agentId = agent === undefined ? undefined : (await getAgent(operations, agent)).id;
    return read(operations, { from, to, channelId: channel, ...definedOnly({ agentId }) });
  });
}

const answers = defineCommand({
  description: "show outcomes of the agents' answers, and how many answers other thresholds would have sent",
  options: OPTIONS,
  examples: ["stats answers", "stats answers --agent support --json"],
  async run(cli, input) {
    const found = await readFigures(cli, input, ({ getAnswerStats }, period) => getAnswerStats(period));
    cli.terminal.show({ ok: true, project: input.project, ...found }, () => renderAnswerStats(found, cli.terminal));
  },
});

const report = defineCommand({
  description: "show ratings, reply times, volume and people, each with the period before",
  options: {
    ...OPTIONS,
    timeZone: option("--time-zone <zone>", "time zone, as in Europe/Berlin (default: that of the business hours)"),
    csv: choice("--csv <table>", "print this table as CSV", REPORT_TABLES),
  },
  examples: [
    "stats report",
    "stats report --from 2026-11-01 --to 2026-12-01",
    "stats report --csv agents > agents.csv",
  ],
  async run(cli, { csv, timeZone, ...input }) {
    const zone = definedOnly({ timeZone });
    if (csv !== undefined) {
      const { content } = await readFigures(cli, input, ({ exportReport }, period) =>
        exportReport({ ...period, ...zone, table: csv }),
      );
      const text = content.toString();
      // Comments are external texts; they are escaped for a terminal, and unchanged in a file.
      cli.terminal.show({ ok: true, csv: text }, () => (cli.terminal.isInteractive ? safeText(text) : text).trimEnd());
      return;
    }
    const found = await readFigures(cli, input, ({ getReport }, period) => getReport({ ...period, ...zone }));
    cli.terminal.show({ ok: true, project: input.project, ...found }, () => renderReport(found, cli.terminal));
  },
});

/** `svc stats`: messages and answers of a project in a period. */
export const stats = defineCommand({
  options: OPTIONS,
  examples: ["stats", "stats --from 2026-11-01 --to 2026-12-01 --project shop --json", "stats answers --agent support"],
  async run(cli, input) {
    const found = await readFigures(cli, input, ({ getStats }, period) => getStats(period));
    cli.terminal.show({ ok: true, project: input.project, ...found }, () => renderStats(found, cli.terminal));
  },
  commands: { answers, report },
});

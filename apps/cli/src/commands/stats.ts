import { CHANNEL_IDS, REPORT_TABLES, sumAnswerCounts } from "@svc/contracts";
import type { AnswerCounts, AnswerStats, Report, ReportFigures, Stats, StatsInput } from "@svc/contracts";
import { asAdministrator, getAgent } from "../as-administrator.ts";
import type { BoundOperations } from "../as-administrator.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import type { OptionValues } from "../define-command.ts";
import { choice, definedOnly, flag, option, projectOption } from "../options.ts";
import { renderFacts, renderTable } from "../render-table.ts";
import { safeLine, safeText } from "../terminal.ts";
import type { Terminal } from "../terminal.ts";

const REPORT_NAME_CHARS = 40;
const COMMENT_CHARS = 200;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Returns a duration in readable units, as in "1.2 s" or "3 min"; "-" for none. */
function renderDuration(ms: number | null): string {
  if (ms === null) return "-";
  if (ms < SECOND_MS) return `${ms} ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return `${(ms / HOUR_MS).toFixed(1)} h`;
}

const shareCell = (part: number, whole: number) => (whole === 0 ? "-" : `${Math.round((100 * part) / whole)} %`);
const pair = (p50: number | null, p90: number | null) => `${renderDuration(p50)}, ${renderDuration(p90)}`;

/** Columns of the tables, computed from the figures of a row. */
const REPORT_COLUMNS: [head: string, fact: string, cell: (figures: ReportFigures) => string][] = [
  ["CONVERSATIONS", "conversations", ({ conversations }) => String(conversations)],
  ["MESSAGES", "messages", ({ messages }) => String(messages)],
  ["SELF-SERVICE", "self-service rate", ({ selfService, conversations }) => shareCell(selfService, conversations)],
  ["RESOLVED", "resolved", ({ resolved }) => String(resolved)],
  ["REPLIES", "replies by people", ({ replies }) => String(replies)],
  ["FIRST REPLY", "first reply (median, p90)", (row) => pair(row.firstReplyP50Ms, row.firstReplyP90Ms)],
  ["TEAM'S REPLY", "team's first reply (median, p90)", (row) => pair(row.teamReplyP50Ms, row.teamReplyP90Ms)],
  ["RESOLUTION", "resolution (median, p90)", (row) => pair(row.resolutionP50Ms, row.resolutionP90Ms)],
  ["RATINGS", "ratings", ({ ratings }) => String(ratings)],
  ["CSAT", "satisfaction (4 or 5 of 5)", ({ goodRatings, ratings }) => shareCell(goodRatings, ratings)],
  ["NEGATIVE", "negative ratings (1 or 2)", ({ badRatings }) => String(badRatings)],
  [
    "BREACHES",
    "SLA breaches (first reply, next reply, resolution)",
    (row) => [row.firstReplyBreaches, row.nextReplyBreaches, row.resolutionBreaches].join(", "),
  ],
];

/** Returns a report as tables; the totals include the previous period. */
function renderReport(report: Report, { width }: Terminal): string {
  const { from, to, previous, timeZone, isBusinessTime, total, backlog, comments } = report;
  const table = (head: string[], rows: string[][]) => (rows.length === 0 ? [] : ["", renderTable(head, rows, width)]);
  const groups = [
    ["CHANNEL", report.channels],
    ["AGENT", report.agents],
    ["PERSON", report.operators],
    ["WEEKDAY", report.weekdays],
  ] as const;
  return [
    renderFacts([
      ["from", from],
      ["to", to],
      ["period before", `${previous.from} to ${previous.to}`],
      ["time zone", timeZone],
      ["times", isBusinessTime ? "in business hours" : "around the clock"],
    ]),
    ...table(
      ["FIGURE", "PERIOD", "BEFORE"],
      REPORT_COLUMNS.map(([, fact, cell]) => [fact, cell(total), cell(total.previous)]),
    ),
    ...groups.flatMap(([head, rows]) =>
      table(
        [head, ...REPORT_COLUMNS.map(([name]) => name)],
        rows.map((row) => [
          safeLine(row.name ?? row.key ?? "-", REPORT_NAME_CHARS),
          ...REPORT_COLUMNS.map(([, , cell]) => cell(row)),
        ]),
      ),
    ),
    ...table(
      ["WAITING FOR LESS THAN", "TICKETS", "UNASSIGNED", "SNOOZED"],
      backlog.map(({ upToHours, tickets, unassigned, snoozed }) => [
        upToHours === null ? "longer" : `${upToHours} h`,
        ...[tickets, unassigned, snoozed].map(String),
      ]),
    ),
    ...table(
      ["SCORE", "AT", "PERSON", "COMMENT"],
      comments.map(({ score, at, operator, operatorName, comment }) => [
        String(score),
        at.slice(0, 16),
        safeLine(operatorName ?? operator ?? "-", REPORT_NAME_CHARS),
        safeLine(comment ?? "", COMMENT_CHARS),
      ]),
    ),
  ].join("\n");
}

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

const USAGE_COLUMNS = ["DAY", "PROJECT", "MESSAGES", "DOCUMENTS", "STORED MB", "SOCKETS", "MODEL TOKENS"];
const MB = 1024 * 1024;

/** `svc usage`: usage of projects by day. */
export const usage = defineCommand({
  options: {
    from: option("--from <day>", "first day (UTC; default: 30 days before the last one)"),
    to: option("--to <day>", "last day, inclusive (UTC; default: today)"),
    of: option("--of <project>", "only this project (default: all projects)"),
    csv: flag("--csv", "print CSV"),
  },
  examples: ["usage", "usage --of shop --from 2026-11-01 --to 2026-11-30", "usage --csv > usage.csv"],
  async run(cli, { from, to, of, csv }) {
    const query = definedOnly({ from, to, project: of });
    if (csv === true) {
      const { content } = await asAdministrator(cli, undefined, ({ exportUsage }) => exportUsage(query));
      const text = content.toString();
      cli.terminal.show({ ok: true, csv: text }, () => text.trimEnd());
      return;
    }
    const found = await asAdministrator(cli, undefined, ({ getUsage }) => getUsage(query));
    cli.terminal.show({ ok: true, ...found }, () =>
      renderTable(
        USAGE_COLUMNS,
        found.items.map(({ day, project, messages, documents, storedBytes, sockets, modelTokens }) => [
          day,
          project,
          ...[messages, documents].map(String),
          (storedBytes / MB).toFixed(1),
          ...[sockets, modelTokens].map(String),
        ]),
        cli.terminal.width,
      ),
    );
  },
});

import type { Report, ReportFigures } from "@svc/contracts";
import { renderFacts, renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";

const NAME_CHARS = 40;
const COMMENT_CHARS = 200;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Returns a duration in readable units, as in "1.2 s" or "3 min"; "-" for none. */
export function renderDuration(ms: number | null): string {
  if (ms === null) return "-";
  if (ms < SECOND_MS) return `${ms} ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return `${(ms / HOUR_MS).toFixed(1)} h`;
}

const share = (part: number, whole: number) => (whole === 0 ? "-" : `${Math.round((100 * part) / whole)} %`);
const pair = (p50: number | null, p90: number | null) => `${renderDuration(p50)}, ${renderDuration(p90)}`;

/** Columns of the tables, computed from the figures of a row. */
const COLUMNS: [head: string, fact: string, cell: (figures: ReportFigures) => string][] = [
  ["CONVERSATIONS", "conversations", ({ conversations }) => String(conversations)],
  ["MESSAGES", "messages", ({ messages }) => String(messages)],
  ["SELF-SERVICE", "self-service rate", ({ selfService, conversations }) => share(selfService, conversations)],
  ["RESOLVED", "resolved", ({ resolved }) => String(resolved)],
  ["REPLIES", "replies by people", ({ replies }) => String(replies)],
  ["FIRST REPLY", "first reply (median, p90)", (row) => pair(row.firstReplyP50Ms, row.firstReplyP90Ms)],
  ["RESOLUTION", "resolution (median, p90)", (row) => pair(row.resolutionP50Ms, row.resolutionP90Ms)],
  ["RATINGS", "ratings", ({ ratings }) => String(ratings)],
  ["CSAT", "satisfaction (4 or 5 of 5)", ({ goodRatings, ratings }) => share(goodRatings, ratings)],
  ["NEGATIVE", "negative ratings (1 or 2)", ({ badRatings }) => String(badRatings)],
  [
    "BREACHES",
    "SLA breaches (first reply, next reply, resolution)",
    (row) => [row.firstReplyBreaches, row.nextReplyBreaches, row.resolutionBreaches].join(", "),
  ],
];

/** Returns a report as tables; the totals include the previous period. */
export function renderReport(report: Report, { width }: Terminal): string {
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
      COLUMNS.map(([, fact, cell]) => [fact, cell(total), cell(total.previous)]),
    ),
    ...groups.flatMap(([head, rows]) =>
      table(
        [head, ...COLUMNS.map(([name]) => name)],
        rows.map((row) => [
          safeLine(row.name ?? row.key ?? "-", NAME_CHARS),
          ...COLUMNS.map(([, , cell]) => cell(row)),
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
        safeLine(operatorName ?? operator ?? "-", NAME_CHARS),
        safeLine(comment ?? "", COMMENT_CHARS),
      ]),
    ),
  ].join("\n");
}

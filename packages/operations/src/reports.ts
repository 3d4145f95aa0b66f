import { listBusinessPeriods } from "@svc/channel-manager";
import type { Principal } from "@svc/auth";
import {
  REPORT_FIGURES,
  REPORT_GROUPS,
  REPORT_LIMITS,
  checkInput,
  answerCountsSchema,
  reportTableSchema,
  statsInputSchema,
  sumAnswerCounts,
} from "@svc/contracts";
import type {
  AnswerCounts,
  BusinessHours,
  Report,
  ReportDraftRow,
  ReportFigures,
  ReportGroup,
  ReportRating,
  ReportRow,
  ReportTable,
  StatsInput,
  StatsQuery,
} from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import { noFigures, periodBefore } from "@svc/store";
import type { RatingRow, ReportPeriod, Store } from "@svc/store";
import { operation } from "./operation.ts";
import { getStats } from "./stats.ts";

/** A value of a cell; null for an empty one. */
type CsvCell = string | number | boolean | null;

/**
 * Start of a formula in a spreadsheet, by OWASP ("CSV Injection"); also within a cell, because Excel splits cells at
 * semicolons in locales that use them as list separators, such as German, and then also at line breaks, and drops
 * quotation marks at the beginning of a part.
 */
const FORMULA = /^(?=[\t\r])|(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])(?<=^|[;\n\r]"*)/g;

function writeCell(cell: CsvCell): string {
  if (typeof cell !== "string") return cell === null ? "" : String(cell);
  const safe = cell.replaceAll(FORMULA, "'");
  return /[",;\r\n\t']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * Returns rows as a CSV file (RFC 4180) in UTF-8. Text that a spreadsheet would interpret as a formula gets an
 * apostrophe prefix; numbers stay numbers. Because of the byte order mark, Excel reads it as UTF-8; other programs skip
 * it.
 */
export const writeCsv = (rows: readonly (readonly CsvCell[])[]): Buffer =>
  Buffer.from(`\uFEFF${rows.map((row) => `${row.map(writeCell).join(",")}\r\n`).join("")}`);

const DAY_MS = 86_400_000;

/** Maximum rows of a table by agent or person: those with the most conversations, messages and replies. */
const MAX_ROWS = 100;

interface Deps {
  store: Store;
}

/** Parses the query; days are in the project's time zone by default. */
async function readQuery({ store }: Deps, { project }: Principal, input: StatsInput) {
  const hours = (await store.projects.find(project))?.businessHours ?? null;
  const timeZone = input.timeZone ?? hours?.timeZone;
  return { hours, query: checkInput(statsInputSchema(new Date()), { ...input, timeZone }, "The query") };
}

function businessOf(hours: BusinessHours | null, { from, to }: StatsQuery) {
  if (hours === null) return null;
  const start = periodBefore({ from, to }).from.getTime() - REPORT_LIMITS.businessTimeDays * DAY_MS;
  return listBusinessPeriods(hours, new Date(start), to);
}

/** The ID in an actor such as `operator:…`; none for the command line. */
const idOfActor = (actor: string | null): string => /^(?:operator|key):(.+)$/.exec(actor ?? "")?.[1] ?? "";

/** Names of agents and actors, by agent ID and by actor. */
async function readNames(
  { store }: Deps,
  { project }: Principal,
  { agents, actors }: { agents: readonly string[]; actors: readonly string[] },
): Promise<(key: string | null) => string | null> {
  const names = await store.audit.findNames(
    { actorIds: actors.map(idOfActor).filter(isUuid), objectIds: agents.filter(isUuid) },
    project,
  );
  return (key) => names.get(key ?? "") ?? names.get(idOfActor(key)) ?? null;
}

const weightOf = ({ conversations, messages, replies }: ReportFigures) => conversations + messages + replies;

/** Keys that a table always has, in order; null for those that occurred, most frequent first. */
const FIXED_KEYS: Record<ReportGroup, readonly string[] | null> = {
  time: null,
  hours: Array.from({ length: 24 }, (_, hour) => String(hour)),
  weekdays: Array.from({ length: 7 }, (_, day) => String(day + 1)),
  channels: null,
  agents: null,
  operators: null,
};

/** Returns the rows of a table, each with the previous period. */
function rowsOf(
  group: Exclude<ReportGroup, "time">,
  { current, previous }: { current: ReportPeriod; previous: ReportPeriod },
  nameOf: (key: string) => string | null,
): ReportRow[] {
  const [now, before] = [current.groups[group], previous.groups[group]];
  const figuresOf = (key: string) => now.get(key) ?? noFigures();
  const keys =
    FIXED_KEYS[group] ??
    [...new Set([...now.keys(), ...before.keys()])]
      .toSorted((one, other) => weightOf(figuresOf(other)) - weightOf(figuresOf(one)) || (one < other ? -1 : 1))
      .slice(0, MAX_ROWS);
  return keys.map((key) => ({
    key: key === "" ? null : key,
    name: nameOf(key),
    ...figuresOf(key),
    previous: before.get(key) ?? noFigures(),
  }));
}

function timeRowsOf({ current, previous }: { current: ReportPeriod; previous: ReportPeriod }): ReportRow[] {
  const at = (period: ReportPeriod, point: Date | undefined) =>
    period.groups.time.get(String(point?.getTime())) ?? noFigures();
  return current.points.map((point, index) => ({
    key: point.toISOString(),
    name: null,
    ...at(current, point),
    // Aligned at the end: if the clocks change in one of the two, it may begin with a part of another day.
    previous: at(previous, previous.points.at(index - current.points.length)),
  }));
}

function draftRowsOf({ current, previous }: { current: ReportPeriod; previous: ReportPeriod }): ReportDraftRow[] {
  return current.answers.map(({ agentId, name, byConfidence }) => ({
    key: agentId,
    name,
    ...sumAnswerCounts(byConfidence),
    previous: sumAnswerCounts(previous.answers.find((agent) => agent.agentId === agentId)?.byConfidence ?? []),
  }));
}

async function nameRatings(deps: Deps, principal: Principal, ratings: readonly RatingRow[]): Promise<ReportRating[]> {
  const nameOf = await readNames(deps, principal, {
    agents: ratings.flatMap(({ agentId }) => agentId ?? []),
    actors: ratings.flatMap(({ operator }) => operator ?? []),
  });
  return ratings.map(({ at, agentId, operator, ...rating }) => ({
    ...rating,
    at: at.toISOString(),
    agentId,
    agentName: nameOf(agentId),
    operator,
    operatorName: nameOf(operator),
  }));
}

async function readReport(deps: Deps, principal: Principal, input: StatsInput): Promise<Report> {
  const { store } = deps;
  const { project } = principal;
  const { hours, query } = await readQuery(deps, principal, input);
  const periods = await store.reports.read(project, { ...query, business: businessOf(hours, query) });
  const backlog = await store.reports.readBacklog(project, query);
  const comments = await store.reports.listRatings(project, query, { limit: REPORT_LIMITS.ratings, hasComment: true });
  const { current, previous } = periods;
  const keysOf = (group: ReportGroup) => [...current.groups[group].keys(), ...previous.groups[group].keys()];
  const nameOf = await readNames(deps, principal, { agents: keysOf("agents"), actors: keysOf("operators") });
  const before = periodBefore(query);
  const table = (group: Exclude<ReportGroup, "time">) => rowsOf(group, periods, nameOf);
  return {
    from: query.from.toISOString(),
    to: query.to.toISOString(),
    previous: { from: before.from.toISOString(), to: before.to.toISOString() },
    timeZone: query.timeZone,
    isBusinessTime: hours !== null,
    unit: current.unit,
    total: { ...current.total, previous: previous.total },
    time: timeRowsOf(periods),
    hours: table("hours"),
    weekdays: table("weekdays"),
    channels: table("channels"),
    agents: table("agents"),
    operators: table("operators"),
    drafts: draftRowsOf(periods),
    backlog,
    comments: await nameRatings(deps, principal, comments),
  };
}

/** Returns figures of the principal's project in a period, each with the previous period. */
export const getReport = operation("getReport", (deps: Deps, principal, input: StatsInput) =>
  readReport(deps, principal, input),
);

type Rows = CsvCell[][];

/** Returns a header and the rows, with the same columns of the previous period. */
function withPrevious<Figures extends object>(
  columns: readonly (keyof Figures & string)[],
  heads: readonly string[],
  rows: readonly { cells: CsvCell[]; now: Figures; previous: Figures }[],
): Rows {
  const cell = (value: unknown): CsvCell => (typeof value === "number" ? value : null);
  return [
    [...heads, ...columns, ...columns.map((column) => `${column}.previous`)],
    ...rows.map(({ cells, now, previous }) => [
      ...cells,
      ...columns.map((column) => cell(now[column])),
      ...columns.map((column) => cell(previous[column])),
    ]),
  ];
}

const ANSWER_COUNTS = Object.keys(answerCountsSchema.shape) as (keyof AnswerCounts)[];

type TableReader = (deps: Deps, principal: Principal, input: StatsInput) => Promise<Rows>;

const groupTable =
  (group: ReportGroup): TableReader =>
  async (deps, principal, input) => {
    const rows = (await readReport(deps, principal, input))[group];
    const figures = rows.map((row) => ({ cells: [row.key, row.name], now: row, previous: row.previous }));
    return withPrevious<ReportFigures>(REPORT_FIGURES, ["key", "name"], figures);
  };

/** Returns a header and rows of objects with these columns. */
const plainTable = <Name extends string>(columns: readonly Name[], rows: readonly Record<Name, CsvCell>[]): Rows => [
  [...columns],
  ...rows.map((row) => columns.map((column) => row[column])),
];

const RATING_COLUMNS = [
  "at",
  "ticketId",
  "score",
  "comment",
  "channelId",
  "agentId",
  "agentName",
  "operator",
  "operatorName",
] as const satisfies readonly (keyof ReportRating)[];

/** Readers of each exportable table; the first row is its header. */
const TABLES = {
  ...(Object.fromEntries(REPORT_GROUPS.map((group) => [group, groupTable(group)])) as Record<ReportGroup, TableReader>),
  async total(deps, principal, input) {
    const { from, to, total } = await readReport(deps, principal, input);
    const row = { cells: [from, to], now: total, previous: total.previous };
    return withPrevious<ReportFigures>(REPORT_FIGURES, ["from", "to"], [row]);
  },
  async drafts(deps, principal, input) {
    const { drafts } = await readReport(deps, principal, input);
    const rows = drafts.map((row) => ({ cells: [row.key, row.name], now: row, previous: row.previous }));
    return withPrevious<AnswerCounts>(ANSWER_COUNTS, ["key", "name"], rows);
  },
  async backlog(deps, principal, input) {
    const { query } = await readQuery(deps, principal, input);
    const rows = await deps.store.reports.readBacklog(principal.project, query);
    return plainTable(["upToHours", "tickets", "unassigned", "snoozed"], rows);
  },
  async ratings(deps, principal, input) {
    const { query } = await readQuery(deps, principal, input);
    const page = { limit: REPORT_LIMITS.ratingsFile, hasComment: false };
    const rows = await deps.store.reports.listRatings(principal.project, query, page);
    return plainTable(RATING_COLUMNS, await nameRatings(deps, principal, rows));
  },
  async questions(deps, principal, input) {
    const { topUnanswered } = await getStats(deps, principal, input);
    return plainTable(["question", "count", "lastAt"], topUnanswered);
  },
  async models(deps, principal, input) {
    const { models } = await getStats(deps, principal, input);
    return plainTable(["model", "calls", "faults", "inputTokens", "outputTokens", "costUsd"], models);
  },
} as const satisfies Record<ReportTable, TableReader>;

/** Returns a table of a report as CSV (`writeCsv`). Throws like `getReport`. */
export const exportReport = operation(
  "exportReport",
  async (deps: Deps, principal, { table: name, ...input }: StatsInput & { table: ReportTable }) => {
    const table = checkInput(reportTableSchema, name, "The table");
    const content = writeCsv(await TABLES[table](deps, principal, input));
    return { filename: `${table}-${principal.projectName}.csv`, content };
  },
);

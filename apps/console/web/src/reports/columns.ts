import type { AnswerCounts, BacklogRow, ReportFigures } from "@svc/contracts";
import type { TextKey, Texts } from "../i18n/texts.ts";

/** A column of a table: its heading, value, and format. */
export interface Column<Row> {
  label: TextKey;
  /** Null if there is no value, such as a share of nothing. */
  value: (row: Row) => number | null;
  write: (value: number, texts: Texts) => string;
  /** True for times, which count business hours only where a project has some. */
  isTime?: true;
}

const count = (value: number, { number }: Texts) => number(value);
const share = (value: number, { percent }: Texts) => percent(value);
/** Less than a second is not worth a number: outside of business hours, no time passes. */
const time = (value: number, { duration }: Texts) => (value < 1_000 ? `< ${duration(1_000)}` : duration(value));
const part = (some: number, all: number) => (all === 0 ? null : some / all);

/** Columns of numbers, by name. */
export const COLUMNS = {
  conversations: { label: "report.conversations", value: (row) => row.conversations, write: count },
  messages: { label: "overview.messages", value: (row) => row.messages, write: count },
  selfService: { label: "report.selfService", value: (row) => part(row.selfService, row.conversations), write: share },
  automatic: { label: "overview.automatic", value: (row) => part(row.automatic, row.messages), write: share },
  resolved: { label: "report.resolved", value: (row) => row.resolved, write: count },
  replies: { label: "report.replies", value: (row) => row.replies, write: count },
  approvals: { label: "report.approvals", value: (row) => row.approvals, write: count },
  edits: { label: "overview.edits", value: (row) => row.edits, write: count },
  rejections: { label: "report.rejections", value: (row) => row.rejections, write: count },
  firstReply: { label: "overview.p50", value: (row) => row.firstReplyP50Ms, write: time, isTime: true },
  teamReply: { label: "report.teamReply", value: (row) => row.teamReplyP50Ms, write: time, isTime: true },
  teamReplyP90: { label: "report.teamReplyP90", value: (row) => row.teamReplyP90Ms, write: time },
  resolution: { label: "report.resolution", value: (row) => row.resolutionP50Ms, write: time, isTime: true },
  resolutionP90: { label: "report.resolutionP90", value: (row) => row.resolutionP90Ms, write: time },
  ratings: { label: "report.ratings", value: (row) => row.ratings, write: count },
  csat: { label: "report.csat", value: (row) => part(row.goodRatings, row.ratings), write: share },
  badRatings: { label: "report.badRatings", value: (row) => row.badRatings, write: count },
  firstReplyBreaches: { label: "report.firstReplyBreaches", value: (row) => row.firstReplyBreaches, write: count },
  nextReplyBreaches: { label: "report.nextReplyBreaches", value: (row) => row.nextReplyBreaches, write: count },
  resolutionBreaches: { label: "report.resolutionBreaches", value: (row) => row.resolutionBreaches, write: count },
} as const satisfies Record<string, Column<ReportFigures>>;

const { conversations, messages, selfService, automatic, resolved, ratings, csat, badRatings } = COLUMNS;
const { firstReply, teamReply, teamReplyP90, resolution, resolutionP90, replies, approvals, edits, rejections } =
  COLUMNS;
const { firstReplyBreaches, nextReplyBreaches, resolutionBreaches } = COLUMNS;
const BREACHES = [firstReplyBreaches, nextReplyBreaches, resolutionBreaches];

/** The numbers at the top of the page. */
export const TILES: readonly Column<ReportFigures>[] = [
  conversations,
  selfService,
  firstReply,
  teamReply,
  resolution,
  csat,
  badRatings,
  resolved,
  ...BREACHES,
];

/** The columns of the tables, by the kind of their rows. The first one has a bar. */
export const TABLE_COLUMNS = {
  volume: [messages, conversations, selfService, automatic],
  channels: [
    conversations,
    selfService,
    firstReply,
    teamReply,
    teamReplyP90,
    resolution,
    ratings,
    csat,
    badRatings,
    ...BREACHES,
  ],
  operators: [
    replies,
    approvals,
    edits,
    rejections,
    resolved,
    teamReply,
    teamReplyP90,
    resolution,
    resolutionP90,
    ratings,
    csat,
    badRatings,
  ],
} as const satisfies Record<string, readonly Column<ReportFigures>[]>;

/** The columns of outcomes of drafts. */
export const DRAFT_COLUMNS: readonly Column<AnswerCounts>[] = (
  ["answers", "automatic", "accepted", "edited", "rejected", "askedPerson", "ratedBadly", "undecided"] as const
).map((name) => ({ label: `answers.${name}`, value: (row) => row[name], write: count }));

/** The columns of the backlog. */
export const BACKLOG_COLUMNS: readonly Column<BacklogRow>[] = (["tickets", "unassigned", "snoozed"] as const).map(
  (name) => ({ label: `report.backlog.${name}`, value: (row) => row[name], write: count }),
);

/** Formats a change, such as "▲ 12 %"; "" without a change or a value to compare with. */
export function describeTrend(now: number | null, before: number | null, percent: (share: number) => string): string {
  if (now === null || before === null || before === 0 || now === before) return "";
  const change = (now - before) / before;
  return `${change > 0 ? "▲" : "▼"} ${percent(Math.abs(change))}`;
}

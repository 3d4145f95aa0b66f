import { BACKLOG_HOURS, statsUnitOf } from "@svc/contracts";
import type { BacklogRow, ChannelId, ReportFigures, ReportGroup, StatsQuery, StatsUnit } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import { BAD_RATING_MAX_SCORE, listPoints, readAnswerStats, readInTime } from "./stats.ts";
import type { AgentAnswerStats } from "./stats.ts";

/** The lowest score of a visitor that counts as a good rating, from 1 to 5. */
const GOOD_RATING_MIN_SCORE = 4;

/** A period in which a team works, in milliseconds since 1970; `end` is exclusive. */
export interface BusinessPeriod {
  start: number;
  end: number;
}

/** Filters and period of a report. */
export interface ReportSpan extends StatsQuery {
  /** Business periods of the team, in order; null if all time counts. Time before the first one does not count. */
  business: readonly BusinessPeriod[] | null;
}

/** Statistics of one period. */
export interface ReportPeriod {
  unit: StatsUnit;
  /** Start times of the intervals of the period, including empty ones. */
  points: Date[];
  total: ReportFigures;
  /** Statistics by key, as `ReportRow.key`: intervals are in milliseconds since 1970, and "" is no agent. */
  groups: Record<ReportGroup, Map<string, ReportFigures>>;
  answers: AgentAnswerStats[];
}

/** A rating of a visitor. */
export interface RatingRow {
  ticketId: string;
  at: Date;
  score: number;
  comment: string | null;
  channelId: ChannelId;
  agentId: string | null;
  /** Operator who replied last before it. */
  operator: string | null;
}

interface GroupRow {
  /** Bits of GROUPING(): 0 for the column of the group. */
  grouped: number;
  key: string;
}
type TimeFigures = Pick<
  ReportFigures,
  | "resolved"
  | "firstReplyP50Ms"
  | "firstReplyP90Ms"
  | "teamReplyP50Ms"
  | "teamReplyP90Ms"
  | "resolutionP50Ms"
  | "resolutionP90Ms"
>;
type CountRow = GroupRow & Omit<ReportFigures, keyof TimeFigures>;
type TimeRow = GroupRow & TimeFigures;

const sql = statements("platform/reports", {
  badRatingMaxScore: BAD_RATING_MAX_SCORE,
  goodRatingMinScore: GOOD_RATING_MIN_SCORE,
});

/** The groups in the order of the columns of GROUPING(), from its highest bit. */
const GROUP_COLUMNS = [
  "channels",
  "agents",
  "operators",
  "time",
  "hours",
  "weekdays",
] as const satisfies readonly ReportGroup[];
const ALL_GROUPED = 2 ** GROUP_COLUMNS.length - 1;

const groupOf = (grouped: number): ReportGroup | undefined =>
  GROUP_COLUMNS.find((_, index) => (ALL_GROUPED ^ grouped) === 2 ** (GROUP_COLUMNS.length - 1 - index));

/** Returns empty statistics. */
export const noFigures = (): ReportFigures => ({
  conversations: 0,
  messages: 0,
  automatic: 0,
  handoffs: 0,
  selfService: 0,
  resolved: 0,
  replies: 0,
  approvals: 0,
  edits: 0,
  rejections: 0,
  firstReplyP50Ms: null,
  firstReplyP90Ms: null,
  teamReplyP50Ms: null,
  teamReplyP90Ms: null,
  resolutionP50Ms: null,
  resolutionP90Ms: null,
  ratings: 0,
  goodRatings: 0,
  badRatings: 0,
  firstReplyBreaches: 0,
  nextReplyBreaches: 0,
  resolutionBreaches: 0,
});

/** All time, as one business period. */
const ALWAYS: readonly BusinessPeriod[] = [{ start: 0, end: Number.MAX_SAFE_INTEGER }];

/** Converts business periods to the arrays for `times`: starts, lengths, and the total before each, in milliseconds. */
function businessArrays(periods: readonly BusinessPeriod[]) {
  let passedMs = 0;
  const beforeMs = periods.map(({ start, end }) => {
    const before = passedMs;
    passedMs += end - start;
    return before;
  });
  return {
    startsMs: periods.map(({ start }) => start),
    lengthsMs: periods.map(({ start, end }) => end - start),
    beforeMs,
  };
}

async function readPeriod(tx: Db, project: ProjectId, span: ReportSpan): Promise<ReportPeriod> {
  const { from, to, channelId, agentId, timeZone, business } = span;
  const unit = statsUnitOf(from, to);
  const values = { project, from, to, channelId, agentId, unit, timeZone };
  const counts = await sql.counts.all<CountRow>(tx, values);
  const times = await sql.times.all<TimeRow>(tx, { ...values, ...businessArrays(business ?? ALWAYS) });
  const groups: ReportPeriod["groups"] = {
    time: new Map(),
    hours: new Map(),
    weekdays: new Map(),
    channels: new Map(),
    agents: new Map(),
    operators: new Map(),
  };
  let total = noFigures();
  for (const { grouped, key, ...figures } of [...counts, ...times]) {
    const group = groupOf(grouped);
    if (group === undefined) total = { ...total, ...figures };
    else groups[group].set(key, { ...(groups[group].get(key) ?? noFigures()), ...figures });
  }
  // Events without a person.
  groups.operators.delete("");
  return {
    unit,
    points: (await listPoints(tx, unit, { from, to, timeZone })).map(({ at }) => at),
    total,
    groups,
    answers: await readAnswerStats(tx, project, { from, to, channelId, agentId }),
  };
}

/**
 * Returns the statistics of a period and of the preceding one of the same length. Rejects with unavailable, also if it
 * takes longer than 20 s.
 */
export const read = (
  db: Db,
  project: ProjectId,
  span: ReportSpan,
): Promise<{ current: ReportPeriod; previous: ReportPeriod }> =>
  readInTime(db, async (tx) => ({
    current: await readPeriod(tx, project, span),
    previous: await readPeriod(tx, project, { ...span, ...periodBefore(span) }),
  }));

/** Returns the period of the same length before a period. */
export const periodBefore = ({ from, to }: { from: Date; to: Date }): { from: Date; to: Date } => ({
  from: new Date(2 * from.getTime() - to.getTime()),
  to: from,
});

/** Events of a period that need attention. */
export type ReportSignals = Pick<
  ReportFigures,
  "ratings" | "badRatings" | "firstReplyBreaches" | "nextReplyBreaches" | "resolutionBreaches"
>;

const NO_SIGNALS: ReportSignals = {
  ratings: 0,
  badRatings: 0,
  firstReplyBreaches: 0,
  nextReplyBreaches: 0,
  resolutionBreaches: 0,
};

/** Returns the ratings and the breaches of SLA targets in a period. */
export const readSignals = (
  db: Db,
  project: ProjectId,
  { from, to, channelId, agentId }: Omit<StatsQuery, "timeZone">,
): Promise<ReportSignals> =>
  readInTime(
    db,
    async (tx) => (await sql.signals.one<ReportSignals>(tx, { project, from, to, channelId, agentId })) ?? NO_SIGNALS,
  );

/** Returns the tickets that wait for a person now, by age, including ages without any. */
export const readBacklog = (
  db: Db,
  project: ProjectId,
  { channelId, agentId }: Pick<StatsQuery, "channelId" | "agentId">,
): Promise<BacklogRow[]> =>
  readInTime(db, async (tx) => {
    const boundsHours = BACKLOG_HOURS.flatMap((hours) => hours ?? []);
    const rows = await sql.backlog.all<{ bucket: number } & Omit<BacklogRow, "upToHours">>(tx, {
      project,
      channelId,
      agentId,
      boundsHours,
    });
    return BACKLOG_HOURS.map((upToHours, index) => {
      const { tickets = 0, unassigned = 0, snoozed = 0 } = rows.find(({ bucket }) => bucket === index) ?? {};
      return { upToHours, tickets, unassigned, snoozed };
    });
  });

/** Returns the newest ratings of a period, or only those with a comment. */
export const listRatings = (
  db: Db,
  project: ProjectId,
  { from, to, channelId, agentId }: Omit<StatsQuery, "timeZone">,
  { limit, hasComment }: { limit: number; hasComment: boolean },
): Promise<RatingRow[]> =>
  readInTime(db, (tx) =>
    sql.listRatings.all<RatingRow>(tx, { project, from, to, channelId, agentId, limit, hasComment }),
  );

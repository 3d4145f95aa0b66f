import { USAGE_LIMITS, checkInput, invalidInput, statsInputSchema, usageInputSchema } from "@svc/contracts";
import type { AnswerStats, Stats, StatsInput, UsageDay, UsageInput } from "@svc/contracts";
import { usedShareOf } from "@svc/store";
import type { Store } from "@svc/store";
import { operation } from "./operation.ts";

/**
 * Returns figures of the principal's project in a period, by channel and by agent, and the most frequent questions
 * without an answer.
 */
export const getStats = operation("getStats", async ({ store }, principal, input: StatsInput): Promise<Stats> => {
  const query = checkInput(statsInputSchema(new Date()), input, "The query");
  const { total, series, byChannel, byAgent, topUnanswered, models } = await store.stats.read(principal.project, query);
  const signals = await store.reports.readSignals(principal.project, query);
  const usage = await store.storedBytes.readProject(principal.project);
  const { limits } = store.storedBytes;
  return {
    from: query.from.toISOString(),
    to: query.to.toISOString(),
    ...total,
    series: { ...series, points: series.points.map(({ at, ...counts }) => ({ at: at.toISOString(), ...counts })) },
    byChannel,
    byAgent,
    topUnanswered: topUnanswered.map(({ lastAt, ...gap }) => ({ ...gap, lastAt: lastAt.toISOString() })),
    models,
    ratings: { count: signals.ratings, bad: signals.badRatings },
    breaches: {
      firstReply: signals.firstReplyBreaches,
      nextReply: signals.nextReplyBreaches,
      resolution: signals.resolutionBreaches,
    },
    storage: {
      usedBytes: usage.totalBytes,
      maxBytes: limits.projectMaxBytes,
      usedShare: Math.round(usedShareOf(usage, limits) * 1_000) / 1_000,
    },
  };
});

/** Returns the outcomes of the answers by agents of the principal's project in a period, by agent and by confidence. */
export const getAnswerStats = operation(
  "getAnswerStats",
  async ({ store }, principal, input: StatsInput): Promise<AnswerStats> => {
    const query = checkInput(statsInputSchema(new Date()), input, "The query");
    const agents = await store.stats.readAnswers(principal.project, query);
    return { from: query.from.toISOString(), to: query.to.toISOString(), agents };
  },
);

/** Returns what is waiting in the queues of the principal's project, since when, and the dead letters. */
export const getQueues = operation("getQueues", async ({ store }, principal) => {
  const states = await store.stats.readQueues(principal.project);
  return states.map(({ oldestDueAt, ...state }) => ({ ...state, oldestDueAt: oldestDueAt?.toISOString() ?? null }));
});

async function readUsage(store: Store, input: UsageInput): Promise<{ from: string; to: string; items: UsageDay[] }> {
  const { from, to, project: name } = checkInput(usageInputSchema(new Date()), input, "The query");
  const project = name === undefined ? null : await store.projects.findByName(name);
  if (name !== undefined && project === null) {
    throw invalidInput([{ pointer: "/project", code: "unknown", detail: `is not a project: ${name}` }], "The query");
  }
  const query = { from, to, project: project?.id ?? null, limit: USAGE_LIMITS.maxRows };
  return { from, to, items: await store.quotas.listDays(query) };
}

/**
 * Returns the daily usage of all projects or of one, newest day first. Throws invalid_request for an unknown project.
 */
export const getUsage = operation("getUsage", ({ store }: { store: Store }, _principal, input: UsageInput) =>
  readUsage(store, input),
);

const COLUMNS = [
  "day",
  "project",
  "projectId",
  "messages",
  "documents",
  "storedBytes",
  "sockets",
  "modelTokens",
] as const satisfies readonly (keyof UsageDay)[];

/**
 * Returns the same as CSV (RFC 4180). No value needs quotes: names of projects have only a-z, 0-9 and -. Throws like
 * `getUsage`.
 */
export const exportUsage = operation(
  "exportUsage",
  async ({ store }: { store: Store }, _principal, input: UsageInput) => {
    const { from, to, items } = await readUsage(store, input);
    const rows = [COLUMNS, ...items.map((item) => COLUMNS.map((column) => item[column]))];
    const content = Buffer.from(rows.map((row) => `${row.join(",")}\r\n`).join(""));
    return { filename: `usage-${from}-${to}.csv`, content };
  },
);

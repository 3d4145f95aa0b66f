import type { StatsInput, statsEndpoints } from "@svc/contracts";
import { getAnswerStats, getQueues, getStats } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

const NAMES = ["from", "to", "channelId", "agentId", "timeZone"] as const;
const inputOf = (query: (name: string) => unknown) =>
  Object.fromEntries(NAMES.map((name) => [name, query(name)])) as StatsInput;

/** Statistics. */
export const statsHandlers: AdminHandlers<typeof statsEndpoints> = {
  getStats: async (context, { principal, query }) => ({
    json: { ok: true, ...(await getStats(context, principal, inputOf(query))) },
  }),
  getAnswerStats: async (context, { principal, query }) => ({
    json: { ok: true, ...(await getAnswerStats(context, principal, inputOf(query))) },
  }),
  getQueues: async (context, { principal }) => ({ json: { ok: true, items: await getQueues(context, principal) } }),
};

import type { StatsInput, statsEndpoints } from "@svc/contracts";
import { getQueues, getStats } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** Statistics. */
export const statsHandlers: AdminHandlers<typeof statsEndpoints> = {
  async getStats(context, { principal, query }) {
    const names = ["from", "to", "channelId", "agentId", "timeZone"];
    const input = Object.fromEntries(names.map((name) => [name, query(name)])) as StatsInput;
    return { json: { ok: true, ...(await getStats(context, principal, input)) } };
  },
  getQueues: async (context, { principal }) => ({ json: { ok: true, items: await getQueues(context, principal) } }),
};

import type { StatsInput, statsEndpoints } from "@svc/contracts";
import { getStats } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** Statistics. */
export const statsHandlers: AdminHandlers<typeof statsEndpoints> = {
  async getStats(context, { principal, query }) {
    const names = ["from", "to", "channelId", "agentId"];
    const input = Object.fromEntries(names.map((name) => [name, query(name)])) as StatsInput;
    return { json: { ok: true, ...(await getStats(context, principal, input)) } };
  },
};

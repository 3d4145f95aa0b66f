import type { TicketHistoryInput, ticketHistoryEndpoints } from "@svc/contracts";
import { getTicketHistory } from "@svc/operations";
import type { AdminHandlers } from "./admin-handler.ts";

/** What of a ticket is older than what it shows. */
export const ticketHistoryHandlers: AdminHandlers<typeof ticketHistoryEndpoints> = {
  async getTicketHistory(context, { principal, param, query }) {
    const names = ["messagesBefore", "repliesBefore", "eventsBefore"];
    const input = Object.fromEntries(names.map((name) => [name, query(name)])) as TicketHistoryInput;
    return { item: await getTicketHistory(context, principal, param(), input) };
  },
};

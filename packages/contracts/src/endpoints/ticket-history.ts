import { z } from "zod";
import { ticketHistorySchema } from "../ticket-history.ts";
import { itemAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** Older history of a ticket. */
export const ticketHistoryEndpoints = {
  getTicketHistory: {
    method: "GET",
    path: "/api/v1/admin/tickets/{id}/history",
    tag: "Tickets",
    summary: "Get earlier messages, replies and events of a ticket",
    description:
      "Returns up to 200 messages, replies and events before the given positions; a list is returned only if its position is given. `more` says which lists have older entries.",
    scope: "tickets:read",
    query: z.object({
      messagesBefore: z.string().optional().describe("Messages before this `seq`."),
      repliesBefore: z.string().optional().describe("Replies before this `seq`."),
      eventsBefore: z.string().optional().describe("Events before this `id`."),
    }),
    answers: [itemAnswer(ticketHistorySchema)],
    example: { query: { messagesBefore: "201" } },
  },
} as const satisfies Record<string, Endpoint>;

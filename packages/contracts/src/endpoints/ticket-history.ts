import { z } from "zod";
import { ticketHistorySchema } from "../ticket-history.ts";
import { itemAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** What of a ticket is older than what it shows. */
export const ticketHistoryEndpoints = {
  getTicketHistory: {
    method: "GET",
    path: "/api/v1/admin/tickets/{id}/history",
    tag: "Tickets",
    summary: "Read what was said and done earlier",
    description:
      "Up to 200 messages, replies and events before these places, each list only where its place is given. `more` says where there are older ones still.",
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

import { z } from "zod";
import { ticketChangeSchema, ticketCountSchema, ticketDetailSchema, ticketItemSchema } from "../ticket-item.ts";
import { TICKET_SORTS, ticketFilters } from "../ticket-query.ts";
import { itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Tickets";
const PATH = "/api/v1/admin/tickets";

/** The filters as strings of a query, each described by what it takes. */
const filterQuery = z.object({
  ...listQuerySchema.shape,
  q: z
    .string()
    .optional()
    .describe(
      "Words that all stand in the subject, the messages, the replies, or the customer's name, email address or user id, in any case and with or without accents; the last one may be the beginning of a word.",
    ),
  sort: z.enum(TICKET_SORTS).optional().describe("`-updatedAt` where absent. A minus means: the greatest first."),
  status: ticketFilters.status.optional(),
  stage: ticketFilters.stage.optional(),
  channelId: ticketFilters.channelId.optional(),
  agentId: ticketFilters.agentId.optional(),
  assignee: z.string().optional().describe("An operator; `none` for tickets that nobody has."),
  priority: ticketFilters.priority.optional(),
  tag: z.string().optional().describe("A tag that it has, as it is written."),
  language: z.string().optional().describe("ISO 639-1."),
  userId: z.string().optional(),
  chatId: z.string().optional(),
  createdFrom: z.string().optional().describe("Begun at this time or later: RFC 3339, or a day (UTC)."),
  createdTo: z.string().optional().describe("Begun before this time."),
  updatedFrom: z.string().optional().describe("Last changed at this time or later."),
  updatedTo: z.string().optional().describe("Last changed before this time."),
  origin: ticketFilters.origin.optional().describe("`tool-server`: the shared Inbox, which is the submitted issues."),
  allProjects: z
    .enum(["0", "1"])
    .optional()
    .describe(
      "`1`: those of all projects, with an administrator's key; in the console those that the operator may read. Not with `q` and `chatId`, which belong to one project.",
    ),
  needsReview: z.enum(["0", "1"]).optional().describe("`1`: those that a person has to look at."),
});

/** Tickets. */
export const ticketEndpoints = {
  listTickets: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List tickets by filters and words",
    description: "All filters hold together. A cursor belongs to one order; going on with the same filters is yours.",
    scope: "tickets:read",
    query: filterQuery,
    answers: [listAnswer(ticketItemSchema)],
    example: { query: { status: "open", sort: "-priority", limit: "20" } },
  },
  countTickets: {
    method: "GET",
    path: `${PATH}/count`,
    tag,
    summary: "Count tickets by filters",
    description: "The filters of the list, but without words: how many there are, up to 1000.",
    scope: "tickets:read",
    query: filterQuery.omit({ q: true, sort: true, limit: true, cursor: true }),
    answers: [itemAnswer(ticketCountSchema)],
    example: { query: { needsReview: "1" } },
  },
  getTicket: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Read a ticket with what was said and done",
    description:
      "The newest 200 messages, replies and events, oldest first; `more` says where there are older ones. A ticket that was accepted and not worked on yet has the stage `received`.",
    scope: "tickets:read",
    answers: [itemAnswer(ticketDetailSchema, { headers: { ETag: "Its version, for `If-Match`." } })],
  },
  getTicketFile: {
    method: "GET",
    path: `${PATH}/{id}/files/{fileId}`,
    tag,
    summary: "Fetch a file of a conversation of the widget",
    description:
      "A file that its visitor sent, as `attachments` of a message name it, or one of a reply. Always a download: nothing of it is shown or run, whatever it is.",
    scope: "tickets:read",
    answers: [
      {
        status: 200,
        when: "The bytes of the file.",
        schema: null,
        mediaType: "application/octet-stream",
        headers: { "Content-Disposition": "`attachment`, with its name." },
      },
    ],
  },
  updateTicket: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Change the subject, priority or tags of a ticket",
    description: "What is left out stays as it is; tags are replaced as a whole.",
    scope: "tickets:write",
    body: { schema: ticketChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(ticketItemSchema, { headers: { ETag: "Its new version." } })],
    example: { body: { priority: "high", tags: ["billing"] } },
  },
} as const satisfies Record<string, Endpoint>;

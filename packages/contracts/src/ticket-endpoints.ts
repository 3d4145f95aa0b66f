import { z } from "zod";
import { itemAnswer, listAnswer, listQuery } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { ticketChangeSchema, ticketCountSchema, ticketDetailSchema, ticketItemSchema } from "./ticket-item.ts";
import { TICKET_SORTS, ticketFilters } from "./ticket-query.ts";
import { wellFormedString } from "./well-formed.ts";

/** Maximum characters of a test message. */
export const TEST_MESSAGE_MAX_CHARS = 2_000;

/** `origin` in the channel_meta of a test message's ticket. */
export const TEST_ORIGIN = "test";

/** A message to test the agents' answers. */
export const testMessageSchema = z.strictObject({
  text: wellFormedString
    .max(TEST_MESSAGE_MAX_CHARS, { error: `must have at most ${TEST_MESSAGE_MAX_CHARS} characters` })
    .refine((text) => text.trim() !== "", { error: "must not be empty or only whitespace" }),
});
export type TestMessageInput = z.infer<typeof testMessageSchema>;

/** IDs under which a test message can be followed. */
const sentTestMessageSchema = z.object({ ticketId: z.string(), messageId: z.string(), chatId: z.string() });
export type SentTestMessage = z.infer<typeof sentTestMessageSchema>;

const placeSchema = z
  .string()
  .regex(/^\d{1,15}$/, { error: "must be an integer" })
  .transform(Number)
  .optional();

/** Positions before which older entries are returned. A list without a position is not returned. */
export const ticketHistoryInputSchema = z.object({
  messagesBefore: placeSchema,
  repliesBefore: placeSchema,
  eventsBefore: placeSchema,
});
export type TicketHistoryInput = z.input<typeof ticketHistoryInputSchema>;

/** Earlier entries of a ticket, each list oldest first. */
export const ticketHistorySchema = ticketDetailSchema.pick({ messages: true, replies: true, events: true, more: true });
export type TicketHistory = z.infer<typeof ticketHistorySchema>;

const tag = "Tickets";
const PATH = "/api/v1/admin/tickets";

/** Filters as query parameters, with descriptions. */
const filterQuery = z.object({
  ...listQuery.shape,
  q: z
    .string()
    .optional()
    .describe(
      "Words that all occur in the subject, the messages, the replies, or the customer's name, email address or user ID, ignoring case and accents. The last word can be a prefix.",
    ),
  sort: z.enum(TICKET_SORTS).optional().describe("Defaults to `-updatedAt`. A minus sorts in descending order."),
  status: ticketFilters.status.optional(),
  stage: ticketFilters.stage.optional(),
  channelId: ticketFilters.channelId.optional(),
  agentId: ticketFilters.agentId.optional(),
  assignee: z.string().optional().describe("An operator, or `none` for unassigned tickets."),
  priority: ticketFilters.priority.optional(),
  tag: z.string().optional().describe("Exact name of a tag."),
  language: z.string().optional().describe("Language (ISO 639-1)."),
  userId: z.string().optional(),
  chatId: z.string().optional(),
  createdFrom: z.string().optional().describe("Created at or after this time: RFC 3339, or a date (UTC)."),
  createdTo: z.string().optional().describe("Created before this time."),
  updatedFrom: z.string().optional().describe("Last updated at or after this time."),
  updatedTo: z.string().optional().describe("Last updated before this time."),
  origin: ticketFilters.origin
    .optional()
    .describe("`tool-server` for the shared inbox, which contains submitted issues."),
  allProjects: z
    .enum(["0", "1"])
    .optional()
    .describe(
      "`1` for tickets of all projects: all of them with an administrator's key; in the console, those the operator can read. Cannot be combined with `q` and `chatId`.",
    ),
  needsReview: z.enum(["0", "1"]).optional().describe("`1` for tickets that need attention from an operator."),
});

/** Tickets. */
export const ticketEndpoints = {
  sendTestMessage: {
    method: "POST",
    path: "/api/v1/admin/test-messages",
    tag: "Tickets",
    summary: "Send a test message as a customer",
    description:
      "Creates a chat on the HTTP API channel, with `origin` `test` in its `channel_meta`, which is processed like any other message. Follow the result in its ticket; the reply is stored there.",
    scope: "messages:write",
    body: { schema: testMessageSchema },
    answers: [itemAnswer(sentTestMessageSchema, { status: 202, when: "The message is accepted." })],
    example: { body: { text: "How do I reset my password?" } },
  },
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
  listTickets: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List and search tickets",
    description:
      "Filters are combined with AND. A cursor is valid for one sort order. Send the same filters with each page.",
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
    description: "Counts the tickets that match the filters of the list, up to 1000. Text search is not supported.",
    scope: "tickets:read",
    query: filterQuery.omit({ q: true, sort: true, limit: true, cursor: true }),
    answers: [itemAnswer(ticketCountSchema)],
    example: { query: { needsReview: "1" } },
  },
  getTicket: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a ticket with its conversation",
    description:
      "Contains the newest 200 messages, replies and events, oldest first; `more` says whether there are older ones. A ticket that is accepted but not processed yet has the stage `received`.",
    scope: "tickets:read",
    answers: [itemAnswer(ticketDetailSchema, { headers: { ETag: "Version of the ticket, for `If-Match`." } })],
  },
  getTicketFile: {
    method: "GET",
    path: `${PATH}/{id}/files/{fileId}`,
    tag,
    summary: "Download a file of a conversation",
    description:
      "A file sent by the visitor, as listed in `attachments` of a message, or a file of a reply. Always sent as a download, so that browsers never display or run it.",
    scope: "tickets:read",
    answers: [
      {
        status: 200,
        when: "Content of the file.",
        schema: null,
        mediaType: "application/octet-stream",
        headers: { "Content-Disposition": "`attachment`, with the file name." },
      },
    ],
  },
  updateTicket: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Update the subject, priority or tags of a ticket",
    description: "Omitted fields stay unchanged. Tags are replaced as a whole.",
    scope: "tickets:write",
    body: { schema: ticketChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(ticketItemSchema, { headers: { ETag: "New version of the ticket." } })],
    example: { body: { priority: "high", tags: ["billing"] } },
  },
} as const satisfies Record<string, Endpoint>;

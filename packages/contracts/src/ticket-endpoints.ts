import { z } from "zod";
import { itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import {
  ticketChangeSchema,
  ticketCountSchema,
  ticketDetailSchema,
  ticketItemSchema,
  ticketPrioritySchema,
  ticketTagField,
  ticketStageSchema,
  ticketStatusSchema,
} from "./ticket.ts";
import { LIMITS, messageText, textUpTo } from "./limits.ts";
import { channelIdSchema } from "./message-request.ts";
import { ISSUE_ORIGIN } from "./issue.ts";
import { cursorSchema, decodeKeyCursor, encodeKeyCursor, listFields, timeParameter } from "./list-query.ts";
import type { KeyPosition } from "./list-query.ts";
import { REVIEW_LIMITS } from "./review.ts";

/**
 * Sort orders of tickets; a minus sorts in descending order. Tickets of the same priority are sorted by most recent
 * update.
 */
export const TICKET_SORTS = [
  "createdAt",
  "-createdAt",
  "updatedAt",
  "-updatedAt",
  "priority",
  "-priority",
  "dueAt",
] as const;
export type TicketSort = (typeof TICKET_SORTS)[number];

const DEFAULT_SORT: TicketSort = "-updatedAt";

const filledUpTo = (maxChars: number) => textUpTo(maxChars).min(1, { error: "must have at least 1 character" });

const sortSchema = z.enum(TICKET_SORTS).default(DEFAULT_SORT);

const flag = z.enum(["0", "1"], { error: "must be 1, or 0 for all" }).transform((given) => given === "1");

/** Schemas of the ticket filters. */
export const ticketFilters = {
  status: z.enum(ticketStatusSchema.options),
  stage: z.enum(ticketStageSchema.options),
  channelId: z.enum(channelIdSchema.options),
  agentId: z.uuid({ error: "must be the ID of an agent" }),
  assignee: filledUpTo(REVIEW_LIMITS.assigneeMaxChars),
  priority: z.enum(ticketPrioritySchema.options),
  tag: ticketTagField,
  language: z.string().regex(/^[a-z]{2,3}$/, { error: "must be an ISO 639-1 language, such as en" }),
  userId: filledUpTo(LIMITS.userIdMaxChars),
  customerId: z.uuid({ error: "must be the ID of a customer" }),
  chatId: filledUpTo(LIMITS.chatIdMaxChars),
  createdFrom: timeParameter,
  createdTo: timeParameter,
  updatedFrom: timeParameter,
  updatedTo: timeParameter,
  origin: z.enum([ISSUE_ORIGIN], { error: `must be one of ${ISSUE_ORIGIN}` }),
  allProjects: flag,
  needsReview: flag,
  overdue: flag,
  snoozed: z
    .enum(["0", "1"], { error: "must be 1 for snoozed tickets, or 0 for the others" })
    .transform((given) => given === "1"),
  closed: z
    .enum(["0", "1"], { error: "must be 1 for closed tickets, or 0 for the others" })
    .transform((given) => given === "1"),
};

/** Returns the name of the list with this sort order, which its cursors are bound to. */
const listName = (sort: string) => `tickets ${sort}`;
export type TicketListQuery = z.output<ReturnType<typeof ticketListSchema>>;

/** Maximum characters of a test message. */
export const TEST_MESSAGE_MAX_CHARS = 2_000;

/** `origin` in the channel_meta of a test message's ticket. */
export const TEST_ORIGIN = "test";

/** A message to test the agents' answers. */
export const testMessageSchema = z.strictObject({
  text: messageText(TEST_MESSAGE_MAX_CHARS),
});

/** IDs under which a test message can be followed. */
const sentTestMessageSchema = z.object({ ticketId: z.string(), messageId: z.string(), chatId: z.string() });
export type SentTestMessage = z.infer<typeof sentTestMessageSchema>;

const positionSchema = z
  .string()
  .regex(/^\d{1,15}$/, { error: "must be an integer" })
  .transform(Number)
  .optional();

/** Positions before which older entries are returned. A list without a position is not returned. */
export const ticketHistoryInputSchema = z.object({
  messagesBefore: positionSchema,
  repliesBefore: positionSchema,
  eventsBefore: positionSchema,
});

/** Earlier entries of a ticket, each list oldest first. */
export const ticketHistorySchema = ticketDetailSchema.pick({ messages: true, replies: true, events: true, more: true });
export type TicketHistory = z.infer<typeof ticketHistorySchema>;

const route = routesAt("Tickets", "/api/v1/admin");

/** Filters as query parameters, with descriptions. */
const filterQuery = z.object({
  ...listQuery.shape,
  q: z
    .string()
    .optional()
    .describe(
      "Words that all occur in the subject, the messages, the replies, or the customer's name, email address or user ID, ignoring case and accents. The last word can be a prefix. Alternatively the ID of the ticket or of its chat, or at least six consecutive digits of the customer's phone number.",
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
  customerId: z.string().optional().describe("Only conversations of this customer."),
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
  needsReview: z
    .enum(["0", "1"])
    .optional()
    .describe("`1` for tickets that need attention from an operator, without snoozed ones."),
  overdue: z.enum(["0", "1"]).optional().describe("`1` for tickets that are late by the project's SLA targets."),
  snoozed: z.enum(["0", "1"]).optional().describe("`1` for snoozed tickets only, `0` for the others."),
  closed: z.enum(["0", "1"]).optional().describe("`1` for resolved tickets and spam only, `0` for the others."),
});

/** Tickets. */
export const ticketEndpoints = {
  sendTestMessage: {
    ...route("POST /test-messages", "messages:write", "Send a test message as a customer"),
    description:
      "Creates a chat on the HTTP API channel, with `origin` `test` in its `channel_meta`, which is processed like any other message. Follow the result in its ticket; the reply is stored there.",
    body: { schema: testMessageSchema },
    answers: [itemAnswer(sentTestMessageSchema, { status: 202, when: "The message is accepted." })],
    example: { body: { text: "How do I reset my password?" } },
  },
  getTicketHistory: {
    ...route("GET /tickets/{id}/history", "tickets:read", "Get earlier messages, replies and events of a ticket"),
    description:
      "Returns up to 200 messages, replies and events before the given positions; a list is returned only if its position is given. `more` says which lists have older entries.",
    query: z.object({
      messagesBefore: z.string().optional().describe("Messages before this `seq`."),
      repliesBefore: z.string().optional().describe("Replies before this `seq`."),
      eventsBefore: z.string().optional().describe("Events before this `id`."),
    }),
    answers: [itemAnswer(ticketHistorySchema)],
    example: { query: { messagesBefore: "201" } },
  },
  listTickets: {
    ...route("GET /tickets", "tickets:read", "List and search tickets"),
    description:
      "Filters are combined with AND. A cursor is valid for one sort order. Send the same filters with each page.",
    query: filterQuery,
    answers: [listAnswer(ticketItemSchema)],
    example: { query: { status: "open", sort: "-priority", limit: "20" } },
  },
  countTickets: {
    ...route("GET /tickets/count", "tickets:read", "Count tickets by filters"),
    description: "Counts the tickets that match the filters of the list, up to 1000. Text search is not supported.",
    query: filterQuery.omit({ q: true, sort: true, limit: true, cursor: true }),
    answers: [itemAnswer(ticketCountSchema)],
    example: { query: { needsReview: "1" } },
  },
  getTicket: {
    ...route("GET /tickets/{id}", "tickets:read", "Get a ticket with its conversation"),
    description:
      "Contains the newest 200 messages, replies and events, oldest first; `more` says whether there are older ones. A ticket that is accepted but not processed yet has the stage `received`.",
    answers: [itemAnswer(ticketDetailSchema, { headers: { ETag: "Version of the ticket, for `If-Match`." } })],
  },
  getTicketFile: {
    ...route("GET /tickets/{id}/files/{fileId}", "tickets:read", "Download a file of a conversation"),
    description:
      "A file sent by the visitor, as listed in `attachments` of a message, or a file of a reply. Always sent as a download, so that browsers never display or run it.",
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
  getTicketTranscript: {
    ...route("GET /tickets/{id}/transcript", "tickets:read", "Download the conversation of a ticket as text"),
    description:
      "Messages and replies with their times and the names of files, without notes and drafts: what the customer has seen. Of a conversation with more than 10,000 messages, the newest.",
    answers: [
      {
        status: 200,
        when: "The conversation, in UTF-8.",
        schema: null,
        mediaType: "text/plain",
        headers: { "Content-Disposition": "`attachment`, with the file name." },
      },
    ],
  },
  updateTicket: {
    ...route("PATCH /tickets/{id}", "tickets:write", "Update the subject, priority or tags of a ticket"),
    description: "Omitted fields stay unchanged. Tags are replaced as a whole.",
    body: { schema: ticketChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(ticketItemSchema, { headers: { ETag: "New version of the ticket." } })],
    example: { body: { priority: "high", tags: ["billing"] } },
  },
} as const satisfies Record<string, Endpoint>;

/** Returns the cursor of the page after a ticket in the list with this sort order. */
export function encodeTicketCursor(sort: TicketSort, position: KeyPosition): string {
  return encodeKeyCursor(listName(sort), position);
}

/**
 * Returns the schema of a query for tickets; filters are combined with AND. `sort` is the input's sort order, because a cursor
 * is valid for one order. The result has `after`, the decoded position, instead of the cursor.
 */
export function ticketListSchema(sort: unknown) {
  const list = listName(typeof sort === "string" ? sort : DEFAULT_SORT);
  return z
    .object({
      limit: listFields.limit,
      sort: sortSchema,
      cursor: cursorSchema((cursor) => decodeKeyCursor(list, cursor)).optional(),
      q: listFields.q,
    })
    .extend(z.object(ticketFilters).partial().shape)
    .transform(({ cursor, ...rest }) => ({ ...rest, after: cursor }));
}

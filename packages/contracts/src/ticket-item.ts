import { z } from "zod";
import { customerSchema } from "./customer.ts";
import { attachmentRefSchema, channelIdSchema } from "./incoming-message.ts";
import { messageModeSchema } from "./message-request.ts";
import { modelCallItemSchema, modelUsageSchema } from "./model-usage.ts";
import { replyAuthorSchema, sourceSchema } from "./reply-item.ts";
import { messageStateSchema, ticketStageSchema, ticketStatusSchema } from "./ticket.ts";
import { toolCallSchema } from "./tool.ts";
import { lineUpTo } from "./well-formed.ts";

/** Bounds of tickets. Characters are Unicode code points. */
export const TICKET_LIMITS = {
  subjectMaxChars: 200,
  tagsMaxCount: 20,
  tagMaxChars: 50,
  /** Messages, replies and events that one ticket shows, the newest of each. */
  shownMaxCount: 200,
  /** Bytes of messages, and of replies, that one ticket shows. */
  shownMaxBytes: 4 * 1024 * 1024,
  /** Of the last message in a list. */
  lastMessageMaxChars: 140,
} as const;

/** How urgent a ticket is, from the least to the most. */
export const ticketPrioritySchema = z.enum(["low", "normal", "high", "urgent"]);
export type TicketPriority = z.infer<typeof ticketPrioritySchema>;

const time = z.iso.datetime();

/** Who wrote last in a conversation and how the text begins. */
const lastMessageSchema = z.object({
  text: z
    .string()
    .describe("One line of plain text, at most 140 characters; the name of a file that came without text."),
  author: z.enum(["customer", "agent", "operator"]),
  actor: z.string().nullable().describe("Which operator, as in `assignee`; null for other authors and if unknown."),
  at: time,
});
export type LastMessage = z.infer<typeof lastMessageSchema>;

/** A ticket as operators see it. */
export const ticketItemSchema = z.object({
  id: z.string(),
  homeProject: z
    .string()
    .nullable()
    .describe("Where it came in. Null where that is another project, but for an administrator's key."),
  project: z.string().describe("Who works on it."),
  channelId: channelIdSchema,
  chatId: z.string(),
  userId: z.string().nullable(),
  customer: customerSchema
    .nullable()
    .describe(
      "Name and e-mail address from `channel_meta`, as the sender gave them: not verified. Null without either.",
    ),
  origin: z
    .literal("tool-server")
    .nullable()
    .describe("`tool-server` for a submitted issue, which has no customer to reply to; else null."),
  subject: z.string(),
  status: ticketStatusSchema,
  stage: ticketStageSchema,
  priority: ticketPrioritySchema,
  assignee: z.string().nullable().describe("The operator who has it."),
  agentId: z.string().nullable(),
  confidence: z.number().nullable(),
  language: z.string().nullable().describe("ISO 639-1."),
  tags: z.array(z.string()),
  channel_meta: z.record(z.string(), z.unknown()).describe("The `meta` of all its messages, the newest wins."),
  version: z.int().describe("Its ETag. 0 as long as the pipeline has not opened it."),
  createdAt: time,
  updatedAt: time,
  firstReplyAt: time.nullable(),
  resolvedAt: time.nullable(),
  lastMessage: lastMessageSchema
    .nullable()
    .optional()
    .describe("In lists only. Automatic notices and files of replies do not count."),
});
export type TicketItem = z.infer<typeof ticketItemSchema>;

/** A customer's message of a ticket. */
export const ticketMessageSchema = z.object({
  id: z.string(),
  seq: z.int().describe("Its place in the chat, which it shares with the replies."),
  userId: z.string().nullable(),
  text: z.string(),
  timestamp: time.describe("When it was written, as its channel says."),
  attachments: z.array(attachmentRefSchema),
  meta: z.record(z.string(), z.unknown()),
  mode: messageModeSchema.nullable().describe("How its sender takes the replies; null on channels that push them."),
  state: messageStateSchema,
  attempts: z.int(),
  failure: z.string().nullable().describe("Why the last try failed."),
  createdAt: time,
  finishedAt: time.nullable(),
});
export type TicketMessage = z.infer<typeof ticketMessageSchema>;

const replyPlace = z.object({
  id: z.string(),
  seq: z.int(),
  inReplyTo: z.string().nullable().describe("The message that it answers."),
  author: replyAuthorSchema,
  createdAt: time,
  deliveredAt: time.nullable().describe("When its receiver had it."),
});

/** A reply item of a ticket; of a file its facts, without what is in it. */
export const ticketReplySchema = z.discriminatedUnion("type", [
  replyPlace.extend({
    type: z.literal("message"),
    text: z.string(),
    markdown: z.boolean(),
    sources: z.array(sourceSchema),
  }),
  replyPlace.extend({
    type: z.literal("attachment"),
    filename: z.string(),
    mime: z.string(),
    sizeBytes: z.int(),
  }),
]);
export type TicketReply = z.infer<typeof ticketReplySchema>;

/** Something that happened to a ticket. */
export const ticketEventSchema = z.object({
  id: z.int().describe("Grows with time."),
  at: time,
  actor: z.string().describe("The kind and id of who did it; `pipeline` for the service itself."),
  messageId: z.string().nullable(),
  moves: z.array(
    z.object({ at: z.string(), actor: z.string(), from: ticketStageSchema, to: ticketStageSchema, why: z.string() }),
  ),
  data: z
    .record(z.string(), z.unknown())
    .describe("Empty, as the reasons are, where another project worked on the ticket then, but for an administrator."),
});
export type TicketEvent = z.infer<typeof ticketEventSchema>;

/** The answer that waits for an operator. */
export const ticketDraftSchema = z.object({
  text: z.string().describe("Empty where no answer was found."),
  markdown: z.boolean(),
  sources: z.array(sourceSchema),
  confidence: z.number().nullable(),
  why: z.string().describe("Why a person has to look."),
  covers: z.array(z.string()).describe("The messages that it answers."),
  isStale: z
    .boolean()
    .describe(
      "True when a message waits that the draft does not answer: it is still being worked on, or it has failed.",
    ),
  createdAt: time,
});
export type TicketDraft = z.infer<typeof ticketDraftSchema>;

/** A ticket that is likely about the same as another one. */
const possibleDuplicateSchema = z.object({
  ticketId: z.string(),
  subject: z.string(),
  status: ticketStatusSchema,
  stage: ticketStageSchema,
  similarity: z.number().describe("0 to 1."),
});
export type PossibleDuplicateItem = z.infer<typeof possibleDuplicateSchema>;

/** One ticket with what was said and done, each in its order, and the draft that waits. */
export const ticketDetailSchema = ticketItemSchema.extend({
  messages: z.array(ticketMessageSchema),
  replies: z.array(ticketReplySchema),
  events: z.array(ticketEventSchema),
  draft: ticketDraftSchema.nullable(),
  modelUsage: modelUsageSchema.describe(
    "All calls of language models for it; of other projects for administrators only.",
  ),
  modelCalls: z.array(modelCallItemSchema).describe("The newest 200 of them, oldest first."),
  possibleDuplicates: z
    .array(possibleDuplicateSchema)
    .describe("Of a submitted issue: the tickets of its project that were open then and are likely about the same."),
  toolCalls: z.array(toolCallSchema).describe("The newest calls of its agents' tools, oldest first; at most 100."),
  more: z
    .object({ messages: z.boolean(), replies: z.boolean(), events: z.boolean() })
    .describe("True where there are older ones than those that are shown."),
});
export type TicketDetail = z.infer<typeof ticketDetailSchema>;

/** How many tickets meet some filters. */
export const ticketCountSchema = z.object({
  count: z.int().describe("At most 1000."),
  isMore: z.boolean().describe("True where there may be more than these."),
});
export type TicketCount = z.infer<typeof ticketCountSchema>;

/** Label of a ticket: one line, without the white space around it. */
export const ticketTagSchema = lineUpTo(TICKET_LIMITS.tagMaxChars, "invalid_line").transform((tag) => tag.trim());

/** Body of `PATCH /api/v1/admin/tickets/:id`: tags are replaced as a whole. Unknown fields are faults. */
export const ticketChangeSchema = z.strictObject({
  subject: lineUpTo(TICKET_LIMITS.subjectMaxChars, "invalid_line").optional(),
  priority: z.enum(ticketPrioritySchema.options, { error: "one of low, normal, high, urgent" }).optional(),
  tags: z
    .array(ticketTagSchema)
    .max(TICKET_LIMITS.tagsMaxCount, { error: `at most ${TICKET_LIMITS.tagsMaxCount} tags` })
    // One given twice is one.
    .transform((tags) => [...new Set(tags)])
    .optional(),
});
export type TicketChange = z.infer<typeof ticketChangeSchema>;

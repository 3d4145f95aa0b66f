import { z } from "zod";
import { customerSchema } from "./customer.ts";
import { attachmentRefSchema, channelIdSchema, messageModeSchema } from "./message-request.ts";
import { modelCallItemSchema, modelUsageSchema } from "./model.ts";
import { replyAuthorSchema, sourceSchema } from "./reply-item.ts";
import { toolCallSchema } from "./tool-call.ts";
import { lineUpTo } from "./limits.ts";

/** Status of a ticket, as shown to people. */
export const ticketStatusSchema = z.enum(["open", "pending", "resolved", "spam"]);
export type TicketStatus = z.infer<typeof ticketStatusSchema>;

/** Kind of a deadline that the SLA targets set. */
export const deadlineKindSchema = z.enum(["first_reply", "next_reply", "resolution"]);
export type DeadlineKind = z.infer<typeof deadlineKindSchema>;

/** Stage of a ticket in the pipeline. States are nouns, stage functions are verbs. */
export const ticketStageSchema = z.enum([
  "received",
  "triage",
  "retrieval",
  "agent",
  "review",
  "delivering",
  "done",
  "failed",
]);
export type TicketStage = z.infer<typeof ticketStageSchema>;

/**
 * Legal transitions of a ticket, as data. Each transition is recorded as an event. The agent's answer is sent from
 * `review`; an operator can also write from any resting state. A closed ticket whose customer still waits returns from
 * `done` to `review` or `failed` when it is reopened.
 */
export const STAGE_MOVES = {
  received: ["triage", "review", "delivering", "failed"],
  triage: ["retrieval", "review", "failed"],
  retrieval: ["agent", "failed"],
  agent: ["review", "failed"],
  review: ["delivering", "received", "agent", "done", "failed"],
  delivering: ["done", "review", "failed"],
  done: ["received", "delivering", "review", "failed"],
  failed: ["received", "review", "delivering", "done"],
} as const satisfies Record<TicketStage, readonly TicketStage[]>;

/**
 * Reason of a transition from `delivering` back to `review`: the agent pauses until an operator has reviewed the
 * ticket.
 */
export const PERSON_PROMISED = "a person was promised or asked for";

/** Returns true if a ticket can go from one stage to the other. */
export function isLegalMove(from: TicketStage, to: TicketStage): boolean {
  const targets: readonly TicketStage[] = STAGE_MOVES[from];
  return targets.includes(to);
}

/** One transition of a ticket: the actor, the stages, the reason, and the time (RFC 3339). */
export interface StageMove {
  at: string;
  actor: string;
  from: TicketStage;
  to: TicketStage;
  why: string;
}

/**
 * State of an incoming message: `received` waits for the pipeline, `held` waits for an operator, `answered` has its
 * replies, `rejected` was dismissed by an operator, `failed` is a dead letter.
 */
export const messageStateSchema = z.enum(["received", "held", "answered", "rejected", "failed"]);
export type MessageState = z.infer<typeof messageStateSchema>;

/** Limits of tickets. Characters are Unicode code points. */
export const TICKET_LIMITS = {
  subjectMaxChars: 200,
  tagsMaxCount: 20,
  tagMaxChars: 50,
  /** Maximum number of messages, replies and events that a ticket shows, the newest of each. */
  shownMaxCount: 200,
  /** Maximum bytes of messages, and of replies, that a ticket shows. */
  shownMaxBytes: 4 * 1024 * 1024,
  /** Maximum characters of the last message in a list. */
  lastMessageMaxChars: 140,
} as const;

/** Priority of a ticket, from lowest to highest. */
export const ticketPrioritySchema = z.enum(["low", "normal", "high", "urgent"]);
export type TicketPriority = z.infer<typeof ticketPrioritySchema>;

const time = z.iso.datetime();

/** Author and start of the last message in a conversation. */
const lastMessageSchema = z.object({
  text: z.string().describe("One line of plain text, at most 140 characters; for a file without text, its name."),
  author: z.enum(["customer", "agent", "operator"]),
  actor: z.string().nullable().describe("The operator, as in `assignee`. Null for other authors and if unknown."),
  at: time,
});
export type LastMessage = z.infer<typeof lastMessageSchema>;

/** A ticket as shown to operators. */
export const ticketItemSchema = z.object({
  id: z.string(),
  homeProject: z
    .string()
    .nullable()
    .describe(
      "Project that received the conversation. Null if it is a different project, except for administrators' keys.",
    ),
  project: z.string().describe("Project that handles the ticket."),
  channelId: channelIdSchema,
  chatId: z.string(),
  userId: z.string().nullable(),
  customer: customerSchema
    .nullable()
    .describe(
      "The customer. Before the customer is stored, what `channel_meta` says, if it has a name or address. Null for issues, and for calls of the API that say nothing of a person.",
    ),
  origin: z
    .literal("tool-server")
    .nullable()
    .describe("`tool-server` for a submitted issue, which has no customer to reply to; otherwise null."),
  subject: z.string(),
  status: ticketStatusSchema,
  stage: ticketStageSchema,
  priority: ticketPrioritySchema,
  assignee: z.string().nullable().describe("Operator that the ticket is assigned to."),
  snooze: z
    .object({ until: time.nullable().describe("Null: until the customer writes.") })
    .nullable()
    .describe(
      "Set while the ticket is snoozed: it is in no view of open work until then, or until the customer writes.",
    ),
  agentId: z.string().nullable(),
  confidence: z
    .number()
    .nullable()
    .describe("Confidence of the draft, or of the last answer if none waits. Null if there was no question."),
  language: z.string().nullable().describe("Language (ISO 639-1)."),
  tags: z.array(z.string()),
  channel_meta: z.record(z.string(), z.unknown()).describe("Merged `meta` of all messages; the newest value wins."),
  version: z.int().describe("Version for `If-Match`. 0 until the pipeline has opened the ticket."),
  createdAt: time,
  updatedAt: time.describe(
    "Time of the last message, reply or decision. Changes of subject, priority and tags keep it.",
  ),
  firstReplyAt: time.nullable(),
  resolvedAt: time.nullable(),
  deadline: z
    .object({ kind: deadlineKindSchema, dueAt: time })
    .nullable()
    .describe("What is due first by the project's SLA targets. Null if nothing is."),
  lastMessage: lastMessageSchema
    .nullable()
    .optional()
    .describe(
      "Only in lists. Automatic messages and attached files are not considered, nor an agent's replies while the ticket waits for a person.",
    ),
  waitingSince: time
    .nullable()
    .optional()
    .describe("Only in lists. When the oldest message that waits for an operator was sent. Null if none waits."),
});
export type TicketItem = z.infer<typeof ticketItemSchema>;

/** A customer's message in a ticket. */
const ticketMessageSchema = z.object({
  id: z.string(),
  seq: z.int().describe("Position in the chat, shared with the replies."),
  userId: z.string().nullable(),
  text: z.string(),
  timestamp: time.describe("When it was written, according to the channel."),
  attachments: z.array(attachmentRefSchema),
  meta: z.record(z.string(), z.unknown()),
  mode: messageModeSchema.nullable().describe("How its sender receives replies. Null on channels that push them."),
  state: messageStateSchema,
  attempts: z.int(),
  failure: z.string().nullable().describe("Error of the last attempt."),
  createdAt: time,
  finishedAt: time.nullable(),
});
export type TicketMessage = z.infer<typeof ticketMessageSchema>;

const replyPosition = z.object({
  id: z.string(),
  seq: z.int(),
  inReplyTo: z.string().nullable().describe("The message that it answers."),
  author: replyAuthorSchema,
  authorId: z
    .string()
    .nullable()
    .describe("ID of the operator or the agent who wrote it. Null for `system`, API keys, and older replies."),
  createdAt: time,
  deliveredAt: time.nullable().describe("When it was delivered to the receiver."),
});

/** A reply item of a ticket. Files are listed without their content. */
const ticketReplySchema = z.discriminatedUnion("type", [
  replyPosition.extend({
    type: z.literal("message"),
    text: z.string(),
    markdown: z.boolean(),
    sources: z.array(sourceSchema),
  }),
  replyPosition.extend({
    type: z.literal("attachment"),
    filename: z.string(),
    mime: z.string(),
    sizeBytes: z.int(),
  }),
]);
export type TicketReply = z.infer<typeof ticketReplySchema>;

/** An event of a ticket. */
const ticketEventSchema = z.object({
  id: z.int().describe("Increases over time."),
  at: time,
  actor: z.string().describe("Kind and ID of the actor; `pipeline` for the service itself."),
  messageId: z.string().nullable(),
  moves: z.array(
    z.object({ at: z.string(), actor: z.string(), from: ticketStageSchema, to: ticketStageSchema, why: z.string() }),
  ),
  data: z
    .record(z.string(), z.unknown())
    .describe(
      "Empty, like the reasons, if another project handled the ticket at that time, except for administrators.",
    ),
});
export type TicketEvent = z.infer<typeof ticketEventSchema>;

/** The answer that waits for an operator. */
const ticketDraftSchema = z.object({
  text: z.string().describe("Empty if no answer was found."),
  markdown: z.boolean(),
  sources: z.array(sourceSchema),
  confidence: z.number().nullable(),
  why: z.string().describe("Why the draft needs an operator."),
  covers: z.array(z.string()).describe("The messages that it answers."),
  isStale: z
    .boolean()
    .describe(
      "True if a newer message is not covered by the draft, because it is still being processed or has failed.",
    ),
  createdAt: time,
});
export type TicketDraft = z.infer<typeof ticketDraftSchema>;

/** A ticket that is probably about the same issue. */
const possibleDuplicateSchema = z.object({
  ticketId: z.string(),
  subject: z.string(),
  status: ticketStatusSchema,
  stage: ticketStageSchema,
  similarity: z.number().describe("0 to 1."),
});
export type PossibleDuplicateItem = z.infer<typeof possibleDuplicateSchema>;

/** A ticket with its conversation, each list in order, and the current draft. */
export const ticketDetailSchema = ticketItemSchema.extend({
  messages: z.array(ticketMessageSchema),
  replies: z.array(ticketReplySchema),
  events: z.array(ticketEventSchema),
  draft: ticketDraftSchema.nullable(),
  modelUsage: modelUsageSchema.describe(
    "All calls to language models for the ticket. For other projects, only shown to administrators.",
  ),
  modelCalls: z.array(modelCallItemSchema).describe("The newest 200 of them, oldest first."),
  possibleDuplicates: z
    .array(possibleDuplicateSchema)
    .describe(
      "For a submitted issue: tickets of its project that were open at the time and are probably about the same issue.",
    ),
  toolCalls: z.array(toolCallSchema).describe("The newest tool calls of its agents, oldest first. At most 100."),
  more: z
    .object({ messages: z.boolean(), replies: z.boolean(), events: z.boolean() })
    .describe("True if there are older entries than those shown."),
});
export type TicketDetail = z.infer<typeof ticketDetailSchema>;

/** Number of tickets that match the filters. */
export const ticketCountSchema = z.object({
  count: z.int().describe("At most 1000."),
  isMore: z.boolean().describe("True if there may be more."),
});
export type TicketCount = z.infer<typeof ticketCountSchema>;

/** Tag of a ticket: one line, trimmed. */
export const ticketTagField = lineUpTo(TICKET_LIMITS.tagMaxChars, "invalid_line").transform((tag) => tag.trim());

/** Tags of a ticket. */
export const ticketTagsField = z
  .array(ticketTagField)
  .max(TICKET_LIMITS.tagsMaxCount, { error: `must have at most ${TICKET_LIMITS.tagsMaxCount} tags` })
  // Duplicates are removed.
  .transform((tags) => [...new Set(tags)]);

/** A priority, as a change of a ticket has it. */
export const ticketPriorityField = z.enum(ticketPrioritySchema.options, {
  error: "must be one of low, normal, high, urgent",
});

/** Body of `PATCH /api/v1/admin/tickets/:id`. Tags are replaced as a whole. Unknown fields are rejected. */
export const ticketChangeSchema = z.strictObject({
  subject: lineUpTo(TICKET_LIMITS.subjectMaxChars, "invalid_line").optional(),
  priority: ticketPriorityField.optional(),
  tags: ticketTagsField.optional(),
});
export type TicketChange = z.infer<typeof ticketChangeSchema>;

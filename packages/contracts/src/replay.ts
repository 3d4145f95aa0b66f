import { z } from "zod";
import { agentChangeSchema } from "./agent.ts";
import type { AgentChange } from "./agent.ts";
import { replyAuthorSchema, sourceSchema } from "./reply-item.ts";
import { timeParameter } from "./time-parameter.ts";

/** Bounds of a replay. */
export const REPLAY_LIMITS = {
  /** Replies of people that one call compares at most, and where nothing is said. */
  maxReplies: 100,
  defaultReplies: 20,
  /** How long a call over HTTP may take, in milliseconds; what is not compared by then is left out and counted. */
  timeLimitMs: 50_000,
  /** Characters of each text that is told. */
  textMaxChars: 4_000,
} as const;

const TIME_MAX_CHARS = 40;

const timeSchema = z
  .string()
  .max(TIME_MAX_CHARS, { error: `a time of at most ${TIME_MAX_CHARS} characters` })
  .pipe(timeParameter)
  .optional();

const limitError = `a whole number from 1 to ${REPLAY_LIMITS.maxReplies}`;

const timeoutError = `a whole number of milliseconds from 1 to ${REPLAY_LIMITS.timeLimitMs}`;

const againstSchema = z
  .strictObject({ agentId: z.uuid({ error: "the id of an agent" }).optional(), ...agentChangeSchema.shape })
  .refine((against) => Object.values(against).some((value) => value !== undefined), {
    error: "say what changes: fields as for PATCH, or agentId alone for another agent",
    // A field that is faulty or not known is a fault by itself.
    when: ({ issues }) => issues.length === 0,
  })
  .refine(
    ({ agentId, ...change }) => agentId === undefined || Object.values(change).every((one) => one === undefined),
    {
      path: ["agentId"],
      error: "stands alone: another agent, or changes to this one",
    },
  )
  .describe("Changes to the agent as for PATCH, or `agentId` alone: another agent of the project.");

/** Body of `POST /api/v1/admin/agents/:id/replay`. Unknown fields are faults. */
export const replayInputSchema = z
  .strictObject({
    against: againstSchema,
    limit: z
      .int({ error: limitError })
      .min(1, { error: limitError })
      .max(REPLAY_LIMITS.maxReplies, { error: limitError })
      .optional()
      .describe("How many replies, the newest first."),
    from: timeSchema.describe("Replies that people decided on from this time on."),
    to: timeSchema.describe("And before this one."),
    ticketIds: z
      .array(z.uuid({ error: "the id of a ticket" }))
      .min(1, { error: "name a ticket, or leave it out" })
      .max(REPLAY_LIMITS.maxReplies, { error: `at most ${REPLAY_LIMITS.maxReplies} tickets` })
      .optional()
      .describe("These tickets, whichever agent has them; where absent, those that the agent has."),
    timeoutMs: z
      .int({ error: timeoutError })
      .min(1, { error: timeoutError })
      .max(REPLAY_LIMITS.timeLimitMs, { error: timeoutError })
      .optional()
      .describe("How long it may take; what is not compared by then is left out and counted."),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ["from"],
    error: "a time before the end",
  });
export type ReplayQuery = z.output<typeof replayInputSchema>;

/** What a replay is told, as callers write it. */
export interface ReplayInput {
  against: AgentChange | { agentId: string };
  limit?: number;
  from?: string;
  to?: string;
  ticketIds?: string[];
  timeoutMs?: number;
}

const score = z.number().min(0).max(1);
const side = z.object({
  text: z.string().nullable().describe("Null where it has nothing to say."),
  markdown: z.boolean(),
  sources: z.array(sourceSchema),
  confidence: score,
  why: z.string().describe("How it came to that, in words."),
  sends: z.boolean().describe("Whether it would go out without a person."),
  sendsWhy: z.string().describe("Why so, in words."),
  tokenF1: score.describe("Words that it has in common with what was sent, whatever their order (F1)."),
  rougeL: score.describe("The longest sequence of words that both have in this order (F1)."),
  model: z.string().nullable().describe("The language model that made it; null where none did."),
});

/** What became of one reply of a person when it was played again. */
export const replayItemSchema = z.object({
  ticketId: z.string(),
  messageId: z.string().describe("The newest message that the reply answered."),
  decidedAt: z.iso.datetime(),
  decision: z.enum(["approve", "edit", "reply"]).describe("How a person answered."),
  question: z.string().describe("All messages that the reply answered, oldest first."),
  sent: z.object({ text: z.string(), author: replyAuthorSchema }),
  before: side,
  after: side,
  verdict: z
    .enum(["better", "worse", "same"])
    .describe(
      "Worse: it would now be sent and is far from what was sent (token F1 below 0.5), or its token F1 falls by 0.05 or more. " +
        "Better: that rises by 0.05 or more. Else, where only sending changes: better when a near one is now sent, worse " +
        "when a near one is now held.",
    ),
});
export type ReplayItem = z.infer<typeof replayItemSchema>;
export type ReplaySide = z.infer<typeof side>;

const bothMeans = z.object({ before: score.nullable(), after: score.nullable() });
const bothCounts = z.object({ before: z.int(), after: z.int() });

/** What a replay found. */
export const replayResultSchema = z.object({
  agent: z.object({ id: z.string(), name: z.string(), version: z.int() }),
  against: z.object({
    id: z.string(),
    name: z.string(),
    changed: z.array(z.string()).describe("Names of the fields."),
  }),
  knowledge: z.literal("now").describe("Both sides answer from the knowledge bases as they are now."),
  summary: z.object({
    replies: z.int().describe("Replies that were compared."),
    better: z.int(),
    worse: z.int(),
    same: z.int(),
    sends: bothCounts.describe("How many would go out without a person."),
    tokenF1: bothMeans.describe("Means; null without any reply."),
    rougeL: bothMeans,
    usage: z.object({
      before: z.object({ inputTokens: z.int(), outputTokens: z.int() }),
      after: z.object({ inputTokens: z.int(), outputTokens: z.int() }),
    }),
  }),
  items: z.array(replayItemSchema),
  isComplete: z.boolean().describe("False when the time was up before all were compared."),
  notCompared: z.int().describe("Replies that were found and not compared for want of time."),
  notComparedTicketIds: z
    .array(z.string())
    .describe("Their tickets, one for each reply: what to ask for again with `ticketIds`."),
});
export type ReplayResult = z.infer<typeof replayResultSchema>;

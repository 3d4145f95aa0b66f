import { z } from "zod";
import { AGENT_LIMITS, agentChangeSchema } from "./agent.ts";
import { routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { replyAuthorSchema, sourceSchema } from "./reply-item.ts";
import { timeParameter } from "./list-query.ts";

/** Limits of a replay. */
export const REPLAY_LIMITS = {
  /** Maximum and default number of operator replies that one request compares. */
  maxReplies: 100,
  defaultReplies: 20,
  /** Maximum duration of an HTTP request, in milliseconds. Replies not compared by then are counted as skipped. */
  timeLimitMs: 50_000,
  /** Maximum characters of each returned text. */
  textMaxChars: 4_000,
} as const;

const TIME_MAX_CHARS = 40;

const timeSchema = z.string().max(TIME_MAX_CHARS).pipe(timeParameter).optional();

const limitError = `must be an integer from 1 to ${REPLAY_LIMITS.maxReplies}`;

const timeoutError = `must be an integer from 1 to ${REPLAY_LIMITS.timeLimitMs} (milliseconds)`;

const againstSchema = z
  .strictObject({ agentId: z.uuid({ error: "must be the ID of an agent" }).optional(), ...agentChangeSchema.shape })
  .refine((against) => Object.values(against).some((value) => value !== undefined), {
    error: "must contain the changed fields, as for PATCH, or only agentId for another agent",
    // Runs only if the fields themselves are valid.
    when: ({ issues }) => issues.length === 0,
  })
  .refine(
    ({ agentId, ...change }) => agentId === undefined || Object.values(change).every((one) => one === undefined),
    {
      path: ["agentId"],
      error: "must not be combined with other fields",
    },
  )
  .describe("Changes to the agent, as for PATCH, or only `agentId` to compare with another agent of the project.");

/** Body of `POST /api/v1/admin/agents/:id/replay`. Unknown fields are rejected. */
export const replayInputSchema = z
  .strictObject({
    against: againstSchema,
    limit: z
      .int({ error: limitError })
      .min(1, { error: limitError })
      .max(REPLAY_LIMITS.maxReplies, { error: limitError })
      .optional()
      .describe("Maximum number of replies, newest first."),
    from: timeSchema.describe("Only operator replies at or after this time."),
    to: timeSchema.describe("Only operator replies before this time."),
    ticketIds: z
      .array(z.uuid({ error: "must be the ID of a ticket" }))
      .min(1, { error: "must have at least 1 ticket; omit it to use the agent's tickets" })
      .max(REPLAY_LIMITS.maxReplies, { error: `must have at most ${REPLAY_LIMITS.maxReplies} tickets` })
      .optional()
      .describe("Only these tickets, of any agent. Defaults to the agent's tickets."),
    timeoutMs: z
      .int({ error: timeoutError })
      .min(1, { error: timeoutError })
      .max(REPLAY_LIMITS.timeLimitMs, { error: timeoutError })
      .optional()
      .describe("Time limit in milliseconds. Replies not compared by then are counted as skipped."),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    path: ["from"],
    error: "must be earlier than the end",
  });
export type ReplayQuery = z.output<typeof replayInputSchema>;

/** Input of a replay, as written by callers. */
export type ReplayInput = z.input<typeof replayInputSchema>;

const score = z.number().min(0).max(1);
const side = z.object({
  text: z.string().nullable().describe("Null if the agent has no answer."),
  markdown: z.boolean(),
  sources: z.array(sourceSchema),
  confidence: score,
  why: z.string().describe("Explanation of the confidence."),
  sends: z.boolean().describe("Whether the answer would be sent without approval."),
  sendsWhy: z.string().describe("Explanation of `wouldSend`."),
  tokenF1: score.describe("Overlap of words with the sent reply, in any order (token F1)."),
  rougeL: score.describe("Longest common subsequence of words with the sent reply (F1)."),
  model: z.string().nullable().describe("The language model that wrote the answer. Null if none was used."),
});

/** Comparison for one reply of an operator. */
export const replayItemSchema = z.object({
  ticketId: z.string(),
  messageId: z.string().describe("The newest message that the reply answered."),
  decidedAt: z.iso.datetime(),
  decision: z.enum(["approve", "edit", "reply"]).describe("How the operator answered."),
  question: z.string().describe("All messages that the reply answered, oldest first."),
  sent: z.object({ text: z.string(), author: replyAuthorSchema }),
  before: side,
  after: side,
  verdict: z
    .enum(["better", "worse", "same"])
    .describe(
      "Worse: it would now be sent without approval although it differs much from the sent reply (token F1 below 0.5), or its token F1 falls by at least 0.05. " +
        "Better: its token F1 rises by at least 0.05. If only sending changes: better if a similar answer would now be sent, worse " +
        "if it would now be held for review.",
    ),
});
export type ReplayItem = z.infer<typeof replayItemSchema>;
export type ReplaySide = z.infer<typeof side>;

const bothMeans = z.object({ before: score.nullable(), after: score.nullable() });
const bothCounts = z.object({ before: z.int(), after: z.int() });

/** Result of a replay. */
export const replayResultSchema = z.object({
  agent: z.object({ id: z.string(), name: z.string(), version: z.int() }),
  against: z.object({
    id: z.string(),
    name: z.string(),
    changed: z.array(z.string()).describe("Names of the changed fields."),
  }),
  knowledge: z.literal("now").describe("Both agents answer from the current knowledge bases."),
  summary: z.object({
    replies: z.int().describe("Number of compared replies."),
    better: z.int(),
    worse: z.int(),
    same: z.int(),
    sends: bothCounts.describe("Number of answers that would be sent without approval."),
    tokenF1: bothMeans.describe("Mean over the compared replies. Null if there are none."),
    rougeL: bothMeans,
    usage: z.object({
      before: z.object({ inputTokens: z.int(), outputTokens: z.int() }),
      after: z.object({ inputTokens: z.int(), outputTokens: z.int() }),
    }),
  }),
  items: z.array(replayItemSchema),
  isComplete: z.boolean().describe("False if the time limit was reached before all replies were compared."),
  notCompared: z.int().describe("Number of replies that were not compared because of the time limit."),
  notComparedTicketIds: z
    .array(z.string())
    .describe("Tickets of the skipped replies. Pass them as `ticketIds` in the next request."),
});
export type ReplayResult = z.infer<typeof replayResultSchema>;

const route = routesAt("Agents", "/api/v1/admin/agents");

/** Replay of past conversations with a changed agent. */
export const replayEndpoints = {
  replayAgent: {
    ...route("POST /{id}/replay", "agents:execute", "Replay past conversations with a changed agent"),
    description:
      "The current and the changed agent answer the messages of past replies that operators approved, edited or wrote, with " +
      "the conversation as it was then and the current knowledge. Nothing is sent, stored or changed, and no tool is called. " +
      "Responds within 50 seconds; `isComplete` is false if not all replies were compared.",
    alsoScope: "tickets:read",
    body: { schema: replayInputSchema, maxBytes: AGENT_LIMITS.bodyMaxBytes },
    isCancellable: true,
    answers: [
      {
        status: 200,
        when: "Comparison of both agents.",
        schema: z.object({ ok: z.literal(true) }).extend(replayResultSchema.shape),
      },
    ],
    example: { body: { against: { autoThreshold: 0.6 }, limit: 20 } },
  },
} as const satisfies Record<string, Endpoint>;

import { z } from "zod";
import { channelIdSchema } from "../incoming-message.ts";
import { queueHealthSchema } from "../queue-health.ts";
import { answerStatsSchema } from "../answer-stats.ts";
import { statsSchema } from "../stats.ts";
import type { Endpoint } from "./endpoint.ts";

const SPAN_QUERY = {
  from: z.string().optional().describe("From this time on: RFC 3339, or a day (UTC)."),
  to: z.string().optional().describe("Before this time; now where absent."),
  channelId: channelIdSchema.optional(),
};

/** Statistics. */
export const statsEndpoints = {
  getStats: {
    method: "GET",
    path: "/api/v1/admin/stats",
    tag: "Statistics",
    summary: "How much came in, and how it was answered",
    description: "The last 30 days where no time is given; at most 366 days.",
    scope: "tickets:read",
    query: z.object({
      ...SPAN_QUERY,
      agentId: z.string().optional().describe("Only tickets that this agent has."),
      timeZone: z
        .string()
        .optional()
        .describe("Where the days of `series` begin, as in Europe/Berlin; UTC where absent."),
    }),
    answers: [
      { status: 200, when: "The figures.", schema: z.object({ ok: z.literal(true) }).extend(statsSchema.shape) },
    ],
    example: { query: { channelId: "api" } },
  },
  getAnswerStats: {
    method: "GET",
    path: "/api/v1/admin/stats/answers",
    tag: "Statistics",
    summary: "What became of the agents' answers",
    description:
      "How many answers were sent, accepted, edited or rejected, and after how many the customer asked for a person or " +
      "rated the conversation badly, for each agent and by confidence. Shows what another threshold would have sent. " +
      "The last 30 days if no time is given; at most 366 days. Only answers with sources or of a language model count.",
    scope: "tickets:read",
    query: z.object({
      ...SPAN_QUERY,
      agentId: z.string().optional().describe("Only answers of this agent."),
    }),
    answers: [
      { status: 200, when: "The counts.", schema: z.object({ ok: z.literal(true) }).extend(answerStatsSchema.shape) },
    ],
    example: { query: { channelId: "widget" } },
  },
  getQueues: {
    method: "GET",
    path: "/api/v1/admin/queues",
    tag: "Statistics",
    summary: "What waits, since when, and what was given up",
    description: "Of the project, as it is now.",
    scope: "tickets:read",
    answers: [
      {
        status: 200,
        when: "One item a queue.",
        schema: z.object({ ok: z.literal(true), items: z.array(queueHealthSchema) }),
      },
    ],
    example: {},
  },
} as const satisfies Record<string, Endpoint>;

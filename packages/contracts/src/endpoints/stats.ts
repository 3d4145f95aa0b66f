import { z } from "zod";
import { channelIdSchema } from "../incoming-message.ts";
import { queueHealthSchema } from "../queue-health.ts";
import { answerStatsSchema } from "../answer-stats.ts";
import { statsSchema } from "../stats.ts";
import type { Endpoint } from "./endpoint.ts";

const SPAN_QUERY = {
  from: z.string().optional().describe("Start of the period, inclusive: RFC 3339, or a date (UTC)."),
  to: z.string().optional().describe("End of the period, exclusive. Defaults to now."),
  channelId: channelIdSchema.optional(),
};

/** Statistics. */
export const statsEndpoints = {
  getStats: {
    method: "GET",
    path: "/api/v1/admin/stats",
    tag: "Statistics",
    summary: "Get message and answer statistics",
    description: "Defaults to the last 30 days. At most 366 days.",
    scope: "tickets:read",
    query: z.object({
      ...SPAN_QUERY,
      agentId: z.string().optional().describe("Only tickets of this agent."),
      timeZone: z
        .string()
        .optional()
        .describe("Time zone for the days of `series`, as in Europe/Berlin. Defaults to UTC."),
    }),
    answers: [
      { status: 200, when: "The statistics.", schema: z.object({ ok: z.literal(true) }).extend(statsSchema.shape) },
    ],
    example: { query: { channelId: "api" } },
  },
  getAnswerStats: {
    method: "GET",
    path: "/api/v1/admin/stats/answers",
    tag: "Statistics",
    summary: "Get outcomes of the agents' answers",
    description:
      "Counts of answers that were sent, accepted, edited or rejected, and after which the customer asked for a person or " +
      "gave a negative rating, by agent and confidence. Shows how many answers a different threshold would have sent. Defaults " +
      "to the last 30 days, at most 366 days. Counts only answers with sources or from a language model.",
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
    summary: "Get the state of the queues",
    description: "Returns how many jobs of the project are waiting, since when, and how many have failed.",
    scope: "tickets:read",
    answers: [
      {
        status: 200,
        when: "One item per queue.",
        schema: z.object({ ok: z.literal(true), items: z.array(queueHealthSchema) }),
      },
    ],
    example: {},
  },
} as const satisfies Record<string, Endpoint>;

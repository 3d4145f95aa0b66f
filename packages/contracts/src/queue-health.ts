import { z } from "zod";

/** What is worked on by itself, in the order in which a message meets it. */
export const WORK_QUEUES = ["messages", "replies", "callbacks", "documents"] as const;
export type WorkQueue = (typeof WORK_QUEUES)[number];

/** Rows of a queue that are counted at most. */
export const QUEUE_COUNT_MAX = 10_000;

/** How a queue of a project is. */
export const queueHealthSchema = z.object({
  queue: z.enum(WORK_QUEUES),
  waiting: z
    .int()
    .describe(`What is not done yet, being worked on included; ${QUEUE_COUNT_MAX} stands for that and more.`),
  oldestDueAt: z.iso
    .datetime()
    .nullable()
    .describe("Since when what has waited longest could have been done; null where nothing is due."),
  failed: z.int().describe("What was given up and can be tried again, or was given up for good."),
});
export type QueueHealth = z.infer<typeof queueHealthSchema>;

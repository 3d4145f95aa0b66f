import { z } from "zod";

/** Background queues, in the order in which a message passes them. */
export const WORK_QUEUES = ["messages", "replies", "callbacks", "documents"] as const;
export type WorkQueue = (typeof WORK_QUEUES)[number];

/** Maximum number of rows that are counted per queue. */
export const QUEUE_COUNT_MAX = 10_000;

/** State of a project's queue. */
export const queueHealthSchema = z.object({
  queue: z.enum(WORK_QUEUES),
  waiting: z
    .int()
    .describe(`Number of unfinished jobs, including running ones; ${QUEUE_COUNT_MAX} means that many or more.`),
  oldestDueAt: z.iso.datetime().nullable().describe("Since when the oldest job has been due. Null if none is due."),
  failed: z.int().describe("Number of failed jobs, whether or not they can be retried."),
});
export type QueueHealth = z.infer<typeof queueHealthSchema>;

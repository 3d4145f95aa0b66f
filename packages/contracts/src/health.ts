import { z } from "zod";

/** How a part of the service is, or all of it: the worst of its parts. */
export const healthStatusSchema = z.enum(["pass", "warn", "fail"]);

/** What one part of the service says of itself. */
export const healthCheckSchema = z.object({ status: healthStatusSchema, detail: z.string().describe("In words.") });

/** A channel as the process that holds it describes it. */
export const runningChannelSchema = z.object({
  id: z.string(),
  state: z.enum(["running", "stopped", "failing"]),
  since: z.iso.datetime(),
  error: z.string().nullable().describe("What is wrong, in words, while it is failing."),
});

/** Answer of `GET /api/v1/health` (service document, section 4.1). */
export const healthAnswerSchema = z.object({
  ok: z.boolean().describe("False while no message can be accepted."),
  status: healthStatusSchema,
  version: z.string(),
  time: z.iso.datetime(),
  checks: z
    .record(z.string(), z.union([healthCheckSchema, z.record(z.string(), runningChannelSchema)]))
    .optional()
    .describe("What each part is doing, and under `channels` each channel: shown to administrators only."),
});
export type HealthAnswer = z.infer<typeof healthAnswerSchema>;

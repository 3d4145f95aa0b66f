import { z } from "zod";

/** Health of a component, or of the service: the worst of its components. */
export const healthStatusSchema = z.enum(["pass", "warn", "fail"]);

/** Health of one component. */
export const healthCheckSchema = z.object({
  status: healthStatusSchema,
  detail: z.string().describe("Explanation for people."),
});

/** State of a channel in the process that runs it. */
export const runningChannelSchema = z.object({
  id: z.string(),
  state: z.enum(["running", "stopped", "failing"]),
  since: z.iso.datetime(),
  error: z.string().nullable().describe("Explanation of the failure, while it is failing."),
});

/** Response of `GET /api/v1/health` (service document, section 4.1). */
export const healthAnswerSchema = z.object({
  ok: z.boolean().describe("False if messages cannot be accepted."),
  status: healthStatusSchema,
  version: z.string(),
  time: z.iso.datetime(),
  checks: z
    .record(z.string(), z.union([healthCheckSchema, z.record(z.string(), runningChannelSchema)]))
    .optional()
    .describe("State of each component, and of each channel in `channels`. Only for administrators."),
});
export type HealthAnswer = z.infer<typeof healthAnswerSchema>;

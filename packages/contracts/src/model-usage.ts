import { z } from "zod";

/** Totals of calls to language models. */
export const modelUsageSchema = z.object({
  calls: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number().nullable().describe("US dollars. Null if no price is configured."),
});
export type ModelUsageItem = z.infer<typeof modelUsageSchema>;

/** One call to a language model, without its text. */
export const modelCallItemSchema = z.object({
  at: z.iso.datetime().describe("Time at which the call ended."),
  purpose: z.string().describe("Purpose: `answer`, `triage` or `notes`."),
  model: z.string().describe("Catalog ID of the model."),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number().nullable(),
  ms: z.int(),
  fault: z
    .string()
    .nullable()
    .describe("Why the call returned no usable answer, as in `timeout`. Null if it succeeded."),
});
export type ModelCallItem = z.infer<typeof modelCallItemSchema>;

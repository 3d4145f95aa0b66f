import { z } from "zod";

/** What calls of language models took. */
export const modelUsageSchema = z.object({
  calls: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number().nullable().describe("US dollars; null where no price is configured."),
});
export type ModelUsageItem = z.infer<typeof modelUsageSchema>;

/** One call of a language model, without any text. */
export const modelCallItemSchema = z.object({
  at: z.iso.datetime().describe("When it ended."),
  purpose: z.string().describe("What it was for: `answer`, `triage` or `notes`."),
  model: z.string().describe("Its id in the catalogue."),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number().nullable(),
  ms: z.int(),
  fault: z.string().nullable().describe("Why it gave no usable answer, as in `timeout`; null where it gave one."),
});
export type ModelCallItem = z.infer<typeof modelCallItemSchema>;

import { LIMITS } from "@svc/contracts";
import { z } from "zod";

/** Something said earlier in the conversation; a text alone is the customer's. */
const saidSchema = z
  .union(
    [z.string(), z.strictObject({ author: z.enum(["customer", "agent"]).default("customer"), text: z.string() })],
    { error: 'must be a string or {"author": "customer" or "agent", "text": …}' },
  )
  .transform((said) => (typeof said === "string" ? { author: "customer" as const, text: said } : said));

const oneOrMore = (what: string) =>
  z
    .union([z.string(), z.array(z.string()).nonempty(`must contain at least one: ${what}`)], {
      error: `must be ${what}, a list of them, or null`,
    })
    .transform((given) => (typeof given === "string" ? [given] : given))
    .nullable()
    .optional();

/** A line of a file to evaluate, as it is written. Further fields are left alone. */
export const evalLineSchema = z.object({
  text: z
    .string({ error: "must be a string: the customer's message" })
    .refine((text) => text.trim() !== "", "must not be empty or only whitespace")
    .refine((text) => Array.from(text).length <= LIMITS.textMaxChars, {
      error: `must have at most ${LIMITS.textMaxChars} characters`,
    }),
  id: z.union([z.string(), z.number()], { error: "must be a string or a number" }).transform(String).optional(),
  agent: z.string({ error: "must be the name or ID of an agent, or null for none" }).nullable().optional(),
  document: oneOrMore("a document's key, title, URL or ID"),
  answer: oneOrMore("text that the answer must contain"),
  chat: z.array(saidSchema, { error: "must be a list of earlier messages" }).max(100).default([]),
});

/** The fields that a line may have. */
export const EVAL_FIELDS: readonly string[] = Object.keys(evalLineSchema.shape);

/** A line as it was read: what is not said is undefined, null says "none". */
export type EvalLine = z.output<typeof evalLineSchema> & {
  /** Its number in the file, from 1 on. */
  line: number;
};

/** What is wrong with a line. */
export interface LineFault {
  line: number;
  fault: string;
}

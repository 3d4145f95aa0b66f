import { LIMITS } from "@svc/contracts";
import { z } from "zod";

/** Something said earlier in the conversation; a text alone is the customer's. */
const saidSchema = z
  .union(
    [z.string(), z.strictObject({ author: z.enum(["customer", "agent"]).default("customer"), text: z.string() })],
    { error: 'a text or {"author": "customer" or "agent", "text": …} is needed' },
  )
  .transform((said) => (typeof said === "string" ? { author: "customer" as const, text: said } : said));

const oneOrMore = (what: string) =>
  z
    .union([z.string(), z.array(z.string()).nonempty(`${what} is needed in the list`)], {
      error: `${what}, a list of them, or null is needed`,
    })
    .transform((given) => (typeof given === "string" ? [given] : given))
    .nullable()
    .optional();

/** A line of a file to evaluate, as it is written. Further fields are left alone. */
export const evalLineSchema = z.object({
  text: z
    .string({ error: "a text is needed: what the customer writes" })
    .refine((text) => text.trim() !== "", "it has no characters that can be seen")
    .refine((text) => Array.from(text).length <= LIMITS.textMaxChars, {
      error: `it has more than ${LIMITS.textMaxChars} characters`,
    }),
  id: z.union([z.string(), z.number()], { error: "a text or a number is needed" }).transform(String).optional(),
  agent: z.string({ error: "the name or id of an agent, or null for none of them is needed" }).nullable().optional(),
  document: oneOrMore("a document's key, title, URL or id"),
  answer: oneOrMore("text that the answer must contain"),
  chat: z.array(saidSchema, { error: "a list of earlier messages is needed" }).max(100).default([]),
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

import { z } from "zod";

/** What a claim is, as it comes from a model. */
export const claimSchema = z.object({
  text: z.string().describe("One sentence or list item of the answer, in Markdown."),
  citations: z
    .array(
      z.object({
        passage: z.int().describe("The number of a passage."),
        quote: z.string().describe("The words of that passage, copied letter by letter."),
      }),
    )
    .describe("What shows the claim; none for a mere courtesy."),
});

/** One statement of an answer, and where the model has it from. */
export type Claim = z.infer<typeof claimSchema>;

/** What a model is to answer with. What decides whether anything is passed on comes first, so that it is known early. */
export const answerSchema = z.object({
  answered: z.boolean().describe("Whether the passages answer the question."),
  needsPerson: z
    .boolean()
    .describe("Whether a person has to look: the customer asks for one, or only a person can do it."),
  claims: z.array(claimSchema).describe("The answer, in the order in which it is to be read."),
});

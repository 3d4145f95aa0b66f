import { z } from "zod";
import { articleTitleSchema } from "./gap.ts";
import { messageText } from "./well-formed.ts";

/** Bounds of proposals: characters are Unicode code points. */
export const PROPOSAL_LIMITS = { textMaxChars: 50_000, reasonMaxChars: 2_000 } as const;

export const proposalStatusSchema = z.enum(["open", "accepted", "rejected"], {
  error: "one of open, accepted, rejected",
});
export type ProposalStatus = z.infer<typeof proposalStatusSchema>;

/** A change to a knowledge base that somebody has to decide on. */
export const proposalSchema = z.object({
  id: z.uuid(),
  kbId: z.uuid(),
  documentId: z.uuid().nullable().describe("The document that is changed or added to; null for a new article."),
  ticketId: z
    .uuid()
    .nullable()
    .describe("The conversation that it comes from; null for a key without tickets:read, too."),
  action: z
    .enum(["replace", "add"])
    .describe(
      "What accepting it does: `replace` puts `after` in the place of `before` in the document, `add` makes an article of its own of `after`.",
    ),
  title: z.string().describe("The document's, or that of the article that it would be."),
  question: z
    .string()
    .nullable()
    .describe("What was asked, where that is known; null for a key without tickets:read, too."),
  before: z.string().describe("What the document says now; empty where nothing is replaced."),
  after: z
    .string()
    .describe("All that would be written: an article that answers a customer begins with the question, as heading."),
  diff: z.string().describe("From `before` to `after`, as a unified diff."),
  status: proposalStatusSchema,
  reason: z.string().nullable().describe("Why it was rejected."),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  decidedAt: z.iso.datetime().nullable(),
  decidedBy: z.string().nullable(),
  resultDocumentId: z.uuid().nullable().describe("The document that it has become part of."),
  version: z.int(),
});
export type Proposal = z.infer<typeof proposalSchema>;

const textSchema = messageText(PROPOSAL_LIMITS.textMaxChars);

/**
 * Body of `POST /api/v1/admin/proposals`: a text for a knowledge base, or for a document of it; or a conversation alone,
 * whose last answer by a person is proposed. Unknown fields are faults.
 */
export const proposalInputSchema = z
  .strictObject({
    kbId: z.uuid({ error: "the id of a knowledge base" }).optional(),
    documentId: z.uuid({ error: "the id of a document" }).optional(),
    title: articleTitleSchema.optional(),
    text: textSchema.optional(),
    replaces: textSchema
      .optional()
      .describe("What of the document the text replaces, word for word; without it the text is an addition."),
    ticketId: z.uuid({ error: "the id of a ticket" }).optional(),
  })
  .superRefine((input, context) => {
    const fault = (field: string, code: string, message: string) =>
      context.addIssue({ code: "custom", path: [field], message, params: { code } });
    const isOfTicket = input.ticketId !== undefined && input.text === undefined && input.kbId === undefined;
    if (!isOfTicket && input.text === undefined) fault("text", "required", "is required, unless ticketId stands alone");
    if (!isOfTicket && input.kbId === undefined) fault("kbId", "required", "is required, unless ticketId stands alone");
    if (input.replaces !== undefined && input.documentId === undefined)
      fault("replaces", "not_allowed", "is for a text of a document: name the documentId");
  });
export type ProposalInput = z.infer<typeof proposalInputSchema>;

/** Body of `POST /api/v1/admin/proposals/:id/reject`. Unknown fields are faults. */
export const proposalRejectionSchema = z.strictObject({
  reason: messageText(PROPOSAL_LIMITS.reasonMaxChars).optional(),
});
export type ProposalRejection = z.infer<typeof proposalRejectionSchema>;

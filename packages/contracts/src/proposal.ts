import { z } from "zod";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { articleTitleField } from "./gap.ts";
import { messageText } from "./well-formed.ts";

/** Limits of proposals. Characters are Unicode code points. */
export const PROPOSAL_LIMITS = { textMaxChars: 50_000, reasonMaxChars: 2_000 } as const;

export const proposalStatusSchema = z.enum(["open", "accepted", "rejected"]);
export type ProposalStatus = z.infer<typeof proposalStatusSchema>;

/** A suggested change to a knowledge base that waits for a decision. */
export const proposalSchema = z.object({
  id: z.uuid(),
  kbId: z.uuid(),
  documentId: z.uuid().nullable().describe("The document to change or extend. Null for a new article."),
  ticketId: z
    .uuid()
    .nullable()
    .describe("The conversation that the proposal comes from. Null also for keys without tickets:read."),
  action: z
    .enum(["replace", "add"])
    .describe(
      "Effect of accepting: `replace` replaces `before` with `after` in the document; `add` creates an article from `after`.",
    ),
  title: z.string().describe("Title of the document, or of the new article."),
  question: z
    .string()
    .nullable()
    .describe("The customer's question, if known. Null also for keys without tickets:read."),
  before: z.string().describe("Current text in the document. Empty if nothing is replaced."),
  after: z
    .string()
    .describe("The complete new text. An article that answers a customer starts with the question as a heading."),
  diff: z.string().describe("Unified diff from `before` to `after`."),
  status: proposalStatusSchema,
  reason: z.string().nullable().describe("Reason of the rejection."),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  decidedAt: z.iso.datetime().nullable(),
  decidedBy: z.string().nullable(),
  resultDocumentId: z.uuid().nullable().describe("The document that the accepted text is part of."),
  version: z.int(),
});
export type Proposal = z.infer<typeof proposalSchema>;

const textSchema = messageText(PROPOSAL_LIMITS.textMaxChars);

/**
 * Body of `POST /api/v1/admin/proposals`: a text for a knowledge base or a document, or only a ticket, whose last
 * answer by an operator is proposed. Unknown fields are rejected.
 */
export const proposalInputSchema = z
  .strictObject({
    kbId: z.uuid({ error: "must be the ID of a knowledge base" }).optional(),
    documentId: z.uuid({ error: "must be the ID of a document" }).optional(),
    title: articleTitleField.optional(),
    text: textSchema.optional(),
    replaces: textSchema
      .optional()
      .describe("Text in the document to replace, word for word. If omitted, the text is added."),
    ticketId: z.uuid({ error: "must be the ID of a ticket" }).optional(),
  })
  .superRefine((input, context) => {
    const error = (field: string, code: string, message: string) =>
      context.addIssue({ code: "custom", path: [field], message, params: { code } });
    const isOfTicket = input.ticketId !== undefined && input.text === undefined && input.kbId === undefined;
    if (!isOfTicket && input.text === undefined)
      error("text", "required", "is required, unless only ticketId is given");
    if (!isOfTicket && input.kbId === undefined)
      error("kbId", "required", "is required, unless only ticketId is given");
    if (input.replaces !== undefined && input.documentId === undefined)
      error("replaces", "not_allowed", "requires documentId");
  });
export type ProposalInput = z.infer<typeof proposalInputSchema>;

/** Body of `POST /api/v1/admin/proposals/:id/reject`. Unknown fields are rejected. */
export const proposalRejectionSchema = z.strictObject({
  reason: messageText(PROPOSAL_LIMITS.reasonMaxChars).optional(),
});

const route = routesAt("Proposals", "/api/v1/admin/proposals");

/** Proposals: suggested changes to knowledge bases. */
export const proposalEndpoints = {
  listProposals: {
    ...route("GET", "kb:read", "List proposals, newest first"),
    description:
      "When an operator edits a draft, the change is proposed automatically. `q` searches title and text. The customer's question is returned only to keys with tickets:read, until the proposal is accepted.",
    query: listQuery.extend({
      status: z.string().optional().describe("Only proposals with this status: `open`, `accepted` or `rejected`."),
      kbId: z.string().optional().describe("Only proposals for this knowledge base."),
    }),
    answers: [listAnswer(proposalSchema)],
    example: { query: { status: "open" } },
  },
  createProposal: {
    ...route("POST", "kb:write", "Create a proposal"),
    description:
      "Propose a text for a knowledge base or for one of its documents, or send only `ticketId` to propose the last answer of an operator in that ticket. `ticketId` also requires tickets:read.",
    body: { schema: proposalInputSchema },
    answers: [createdAnswer(proposalSchema)],
    example: {
      body: {
        kbId: "01890a5d-ac96-774b-bcce-b302099a8057",
        title: "Shipping to Iceland",
        text: "We ship to Iceland within ten days.",
      },
    },
  },
  getProposal: {
    ...route("GET /{id}", "kb:read", "Get a proposal"),
    answers: [itemAnswer(proposalSchema)],
  },
  acceptProposal: {
    ...route("POST /{id}/accept", "kb:write", "Accept a proposal"),
    description:
      "The new text is searchable as soon as the response is sent. Returns `version_conflict` if the document has changed since. Accepting twice applies the change once. A proposal that contains a customer's question also requires tickets:read.",
    ifMatch: true,
    answers: [itemAnswer(proposalSchema)],
  },
  rejectProposal: {
    ...route("POST /{id}/reject", "kb:write", "Reject a proposal"),
    body: { schema: proposalRejectionSchema, isOptional: true },
    ifMatch: true,
    answers: [itemAnswer(proposalSchema)],
    example: { body: { reason: "This applies to this customer only." } },
  },
} as const satisfies Record<string, Endpoint>;

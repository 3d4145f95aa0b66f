import { z } from "zod";
import { ARTICLE_LIMITS, articleTextField, articleTitleField } from "./article.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { cursorSchema, decodeKeyCursor, encodeKeyCursor, listFields } from "./list-query.ts";
import type { KeyPosition } from "./list-query.ts";
import { messageText } from "./limits.ts";

/** Limits of gaps. */
export const GAP_LIMITS = {
  /** Maximum stored UTF-16 code units of a question and of an example. */
  textMaxChars: 500,
  /** Number of stored examples per gap, the newest ones. */
  examplesMaxCount: 10,
} as const;

/** Status of a gap: open, answered by an article, or ignored. */
export const gapStatusSchema = z.enum(["open", "answered", "ignored"]);
export type GapStatus = z.infer<typeof gapStatusSchema>;

/** Sort orders of the list of gaps, descending. */
export const gapSortSchema = z.enum(["count", "lastAt"]);
export type GapSort = z.infer<typeof gapSortSchema>;

/** Returns the name of the list with this sort order, which its cursors are bound to. */
const listName = (sort: string) => `gaps ${sort}`;

/** Returns the cursor of the page after a gap in the list with this sort order. */
export function encodeGapCursor(sort: GapSort, position: KeyPosition): string {
  return encodeKeyCursor(listName(sort), position);
}

/**
 * Returns the schema of a query for gaps; `sort` is the input's sort order, because a cursor is valid for one order.
 * The result has `after`, the decoded position, instead of the cursor.
 */
export function gapListSchema(sort: unknown) {
  const list = listName(typeof sort === "string" ? sort : "count");
  return z
    .object({
      status: gapStatusSchema.optional(),
      sort: gapSortSchema.default("count"),
      limit: listFields.limit,
      cursor: cursorSchema((cursor) => decodeKeyCursor(list, cursor)).optional(),
      q: listFields.q,
    })
    .transform(({ cursor, ...rest }) => ({ ...rest, after: cursor }));
}
export type GapListQuery = z.output<ReturnType<typeof gapListSchema>>;

/** A question without a good answer, grouped with similar questions. */
export const gapSchema = z.object({
  id: z.uuid(),
  question: z.string().describe("The question as first asked, without greetings."),
  language: z.string().nullable().describe("ISO 639-1. Null if unknown."),
  count: z.int().describe("Number of messages that asked it."),
  examples: z
    .array(z.object({ text: z.string(), ticketId: z.uuid(), at: z.iso.datetime() }))
    .describe("The newest of these messages, each truncated to 500 characters."),
  lastAt: z.iso.datetime(),
  createdAt: z.iso.datetime(),
  status: gapStatusSchema,
  agentId: z
    .uuid()
    .nullable()
    .describe(
      "Agent that the question was last routed to, and its knowledge bases. Null and empty if no agent fitted.",
    ),
  kbIds: z.array(z.string()),
  article: z.object({ kbId: z.uuid(), documentId: z.uuid() }).nullable().describe("The article written for this gap."),
  version: z.int(),
});
export type Gap = z.infer<typeof gapSchema>;

/** A gap with the current answer of its agent. */
export const gapDetailSchema = gapSchema.extend({
  answerNow: z
    .object({ text: z.string().nullable(), confidence: z.number(), sends: z.boolean(), why: z.string() })
    .nullable()
    .describe(
      "Null if no agent is responsible, and for keys without kb:read. `text` is null if there is still no answer.",
    ),
});
export type GapDetail = z.infer<typeof gapDetailSchema>;

/** A gap whose article was written. A key without tickets:read sees nothing that customers have written. */
export const answeredGapSchema = gapSchema.extend({
  question: z.string().nullable().describe("Null for keys without tickets:read, which do not receive examples either."),
});
export type AnsweredGap = z.infer<typeof answeredGapSchema>;

/** Body of `PATCH /api/v1/admin/gaps/:id`. Unknown fields are rejected. */
export const gapChangeSchema = z.strictObject({ status: gapStatusSchema });

/** Body of `POST /api/v1/admin/gaps/:id/article`. Unknown fields are rejected. */
export const gapArticleSchema = z.strictObject({
  kbId: z.uuid({ error: "must be the ID of a knowledge base" }),
  title: articleTitleField.describe("Stays in the knowledge base, so it must not contain the name of a customer."),
  text: articleTextField,
});

const route = routesAt("Gaps", "/api/v1/admin/gaps");

/** Gaps: questions without a good answer. */
export const gapEndpoints = {
  listGaps: {
    ...route("GET", "tickets:read", "List questions without a good answer"),
    description: "Similar questions are grouped into one gap. `q` searches the question.",
    query: listQuery.extend({
      status: z.string().optional().describe("Only gaps with this status: `open`, `answered` or `ignored`."),
      sort: z
        .string()
        .optional()
        .describe("Sort order: `count` (default) for the most frequent first, or `lastAt` for the most recent first."),
    }),
    answers: [listAnswer(gapSchema)],
    example: { query: { status: "open", sort: "count" } },
  },
  getGap: {
    ...route("GET /{id}", "tickets:read", "Get a gap and the current answer to its question"),
    description: "The current answer contains text from knowledge bases, so it also requires kb:read.",
    answers: [itemAnswer(gapDetailSchema)],
  },
  updateGap: {
    ...route("PATCH /{id}", "tickets:write", "Mark a gap as answered, ignored or open"),
    description:
      "An answered gap reopens when its question is asked again without a good answer. An ignored gap does not.",
    body: { schema: gapChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(gapSchema)],
    example: { body: { status: "ignored" } },
  },
  writeGapArticle: {
    ...route("POST /{id}/article", "kb:write", "Write an article that answers a gap"),
    description:
      "The article becomes a document in the knowledge base, is indexed within seconds, and the gap is marked as answered. A second call replaces the article in the same knowledge base; use `If-Match` to avoid overwriting a change you have not seen. The question and its examples are returned only to keys with tickets:read.",
    body: { schema: gapArticleSchema, maxBytes: ARTICLE_LIMITS.bodyMaxBytes },
    ifMatch: true,
    answers: [
      createdAnswer(answeredGapSchema, "/api/v1/admin/kb/{article.kbId}/documents/{article.documentId}"),
      itemAnswer(answeredGapSchema, { when: "The existing article was replaced." }),
    ],
    errors: ["payload_too_large", "rate_limited"],
    example: {
      body: {
        kbId: "01890a5d-ac96-774b-bcce-b302099a8057",
        title: "Do you ship to Iceland?",
        text: "We ship to Iceland within ten days.",
      },
    },
  },
} as const satisfies Record<string, Endpoint>;

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

const proposalRoute = routesAt("Proposals", "/api/v1/admin/proposals");

/** Proposals: suggested changes to knowledge bases. */
export const proposalEndpoints = {
  listProposals: {
    ...proposalRoute("GET", "kb:read", "List proposals, newest first"),
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
    ...proposalRoute("POST", "kb:write", "Create a proposal"),
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
    ...proposalRoute("GET /{id}", "kb:read", "Get a proposal"),
    answers: [itemAnswer(proposalSchema)],
  },
  acceptProposal: {
    ...proposalRoute("POST /{id}/accept", "kb:write", "Accept a proposal"),
    description:
      "The new text is searchable as soon as the response is sent. Returns `version_conflict` if the document has changed since. Accepting twice applies the change once. A proposal that contains a customer's question also requires tickets:read.",
    ifMatch: true,
    answers: [itemAnswer(proposalSchema)],
  },
  rejectProposal: {
    ...proposalRoute("POST /{id}/reject", "kb:write", "Reject a proposal"),
    body: { schema: proposalRejectionSchema, isOptional: true },
    ifMatch: true,
    answers: [itemAnswer(proposalSchema)],
    example: { body: { reason: "This applies to this customer only." } },
  },
} as const satisfies Record<string, Endpoint>;

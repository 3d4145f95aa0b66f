import { z } from "zod";
import { proposalInputSchema, proposalRejectionSchema, proposalSchema } from "../proposal.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Proposals";
const PATH = "/api/v1/admin/proposals";

/** Proposals: suggested changes to knowledge bases. */
export const proposalEndpoints = {
  listProposals: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List proposals, newest first",
    description:
      "When an operator edits a draft, the change is proposed automatically. `q` searches title and text. The customer's question is returned only to keys with tickets:read, until the proposal is accepted.",
    scope: "kb:read",
    query: listQuerySchema.extend({
      status: z.string().optional().describe("Only proposals with this status: `open`, `accepted` or `rejected`."),
      kbId: z.string().optional().describe("Only proposals for this knowledge base."),
    }),
    answers: [listAnswer(proposalSchema)],
    example: { query: { status: "open" } },
  },
  createProposal: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Create a proposal",
    description:
      "Propose a text for a knowledge base or for one of its documents, or send only `ticketId` to propose the last answer of an operator in that ticket. `ticketId` also requires tickets:read.",
    scope: "kb:write",
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
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a proposal",
    scope: "kb:read",
    answers: [itemAnswer(proposalSchema)],
  },
  acceptProposal: {
    method: "POST",
    path: `${PATH}/{id}/accept`,
    tag,
    summary: "Accept a proposal",
    description:
      "The new text is searchable as soon as the response is sent. Returns `version_conflict` if the document has changed since. Accepting twice applies the change once. A proposal that contains a customer's question also requires tickets:read.",
    scope: "kb:write",
    ifMatch: true,
    answers: [itemAnswer(proposalSchema)],
  },
  rejectProposal: {
    method: "POST",
    path: `${PATH}/{id}/reject`,
    tag,
    summary: "Reject a proposal",
    scope: "kb:write",
    body: { schema: proposalRejectionSchema, isOptional: true },
    ifMatch: true,
    answers: [itemAnswer(proposalSchema)],
    example: { body: { reason: "This applies to this customer only." } },
  },
} as const satisfies Record<string, Endpoint>;

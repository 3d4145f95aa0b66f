import { z } from "zod";
import { proposalInputSchema, proposalRejectionSchema, proposalSchema } from "../proposal.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Proposals";
const PATH = "/api/v1/admin/proposals";

/** Proposed changes to knowledge bases. */
export const proposalEndpoints = {
  listProposals: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List proposed changes to knowledge bases, newest first",
    description:
      "What an operator changes in a draft is proposed by itself. `q` is looked for in title and text. What a customer has asked is shown to keys with tickets:read only, until it was accepted.",
    scope: "kb:read",
    query: listQuerySchema.extend({
      status: z.string().optional().describe("Only those of this status: `open`, `accepted` or `rejected`."),
      kbId: z.string().optional().describe("Only those for this knowledge base."),
    }),
    answers: [listAnswer(proposalSchema)],
    example: { query: { status: "open" } },
  },
  createProposal: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Propose a change to a knowledge base",
    description:
      "A text for a knowledge base or for a document of it; or `ticketId` alone, for the last answer that a person has given there. `ticketId` needs tickets:read as well.",
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
    summary: "Read a proposed change",
    scope: "kb:read",
    answers: [itemAnswer(proposalSchema)],
  },
  acceptProposal: {
    method: "POST",
    path: `${PATH}/{id}/accept`,
    tag,
    summary: "Make a proposed change",
    description:
      "A search finds the new text as soon as this is answered. It is refused with `version_conflict` when the document has changed since. Accepted twice, it is made once. One that shows what a customer has asked needs tickets:read as well.",
    scope: "kb:write",
    ifMatch: true,
    answers: [itemAnswer(proposalSchema)],
  },
  rejectProposal: {
    method: "POST",
    path: `${PATH}/{id}/reject`,
    tag,
    summary: "Turn a proposed change down",
    scope: "kb:write",
    body: { schema: proposalRejectionSchema, isOptional: true },
    ifMatch: true,
    answers: [itemAnswer(proposalSchema)],
    example: { body: { reason: "It is so for this customer only." } },
  },
} as const satisfies Record<string, Endpoint>;

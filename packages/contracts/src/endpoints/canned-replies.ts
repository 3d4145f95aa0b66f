import { z } from "zod";
import {
  cannedReplyChangeSchema,
  cannedReplyInputSchema,
  cannedReplyRenderSchema,
  cannedReplySchema,
  renderedReplySchema,
} from "../canned-reply.ts";
import { createdAnswer, itemAnswer, listAnswer, listQuerySchema } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

const tag = "Canned replies";
const PATH = "/api/v1/admin/canned-replies";

/** Canned replies. */
export const cannedReplyEndpoints = {
  listCannedReplies: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List canned replies, newest first",
    description: "`q` searches name and text.",
    scope: "tickets:read",
    query: listQuerySchema.extend({
      folder: z.string().optional().describe("Only canned replies in this folder."),
      tag: z.string().optional().describe("Only canned replies with this tag."),
    }),
    answers: [listAnswer(cannedReplySchema)],
  },
  createCannedReply: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Create a canned reply",
    description:
      "The name must be unique in the project. The text is Markdown, with variables such as `{{ticket.subject}}`.",
    scope: "tickets:write",
    body: { schema: cannedReplyInputSchema },
    answers: [createdAnswer(cannedReplySchema)],
    example: {
      body: { name: "Shipping", text: "Hello {{customer.userId}},\n\nit is on its way.\n\n{{operator.name}}" },
    },
  },
  getCannedReply: {
    method: "GET",
    path: `${PATH}/{id}`,
    tag,
    summary: "Get a canned reply",
    scope: "tickets:read",
    answers: [itemAnswer(cannedReplySchema)],
  },
  updateCannedReply: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Update a canned reply",
    description: "Omitted fields stay unchanged. Tags are replaced as a whole.",
    scope: "tickets:write",
    body: { schema: cannedReplyChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(cannedReplySchema)],
    example: { body: { tags: ["shipping"] } },
  },
  deleteCannedReply: {
    method: "DELETE",
    path: `${PATH}/{id}`,
    tag,
    summary: "Delete a canned reply",
    scope: "tickets:write",
    ifMatch: true,
    answers: [itemAnswer(cannedReplySchema)],
  },
  renderCannedReply: {
    method: "POST",
    path: `${PATH}/{id}/render`,
    tag,
    summary: "Render a canned reply for a ticket",
    description: "Nothing is sent. Values of variables are escaped, so that they are not interpreted as Markdown.",
    scope: "tickets:read",
    body: { schema: cannedReplyRenderSchema },
    answers: [itemAnswer(renderedReplySchema)],
    example: { body: { ticketId: "01890a5d-ac96-574b-bcce-b302099a8057" } },
  },
} as const satisfies Record<string, Endpoint>;

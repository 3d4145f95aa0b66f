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

/** Texts that operators send again and again. */
export const cannedReplyEndpoints = {
  listCannedReplies: {
    method: "GET",
    path: PATH,
    tag,
    summary: "List canned replies, newest first",
    description: "`q` is looked for in name and text.",
    scope: "tickets:read",
    query: listQuerySchema.extend({
      folder: z.string().optional().describe("Only those in this folder."),
      tag: z.string().optional().describe("Only those with this tag."),
    }),
    answers: [listAnswer(cannedReplySchema)],
  },
  createCannedReply: {
    method: "POST",
    path: PATH,
    tag,
    summary: "Make a canned reply",
    description:
      "Its name is unique in the project. Its text is Markdown, with variables such as `{{ticket.subject}}`.",
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
    summary: "Read a canned reply",
    scope: "tickets:read",
    answers: [itemAnswer(cannedReplySchema)],
  },
  updateCannedReply: {
    method: "PATCH",
    path: `${PATH}/{id}`,
    tag,
    summary: "Change a canned reply",
    description: "What is left out stays as it is; tags are replaced as a whole.",
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
    summary: "Fill a canned reply in for a ticket",
    description:
      "Nothing is sent. What stands in place of a variable is shown as it is, whatever signs of Markdown it has.",
    scope: "tickets:read",
    body: { schema: cannedReplyRenderSchema },
    answers: [itemAnswer(renderedReplySchema)],
    example: { body: { ticketId: "01890a5d-ac96-574b-bcce-b302099a8057" } },
  },
} as const satisfies Record<string, Endpoint>;

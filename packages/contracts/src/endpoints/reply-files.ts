import { OPERATOR_FILE_LIMITS, operatorFileInputSchema, operatorFileSchema } from "../operator-file.ts";
import { createdAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** Files attached by operators. */
export const replyFileEndpoints = {
  addReplyFile: {
    method: "POST",
    path: "/api/v1/admin/tickets/{id}/files",
    tag: "Reviews",
    summary: "Upload a file for a reply",
    description:
      "At most 10 MB. Reference it in `attachments` of `reply` or `edit`; otherwise it is deleted after one day. The customer receives it as a download in the widget, as a file in Telegram, and as an attachment of the reply in the HTTP API.",
    scope: "tickets:write",
    body: {
      schema: operatorFileInputSchema,
      maxBytes: OPERATOR_FILE_LIMITS.bodyMaxBytes,
      otherTypes: { "multipart/form-data": "A form with one file, in a field with any name." },
    },
    answers: [createdAnswer(operatorFileSchema, "/api/v1/admin/tickets/{id}/files/{fileId}")],
    errors: ["rate_limited", "storage_full"],
    example: { body: { filename: "label.txt", content: "UmV0dXJuIGxhYmVs" } },
  },
} as const satisfies Record<string, Endpoint>;

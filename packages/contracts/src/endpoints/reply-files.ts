import { OPERATOR_FILE_LIMITS, operatorFileInputSchema, operatorFileSchema } from "../operator-file.ts";
import { createdAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** Files that operators send. */
export const replyFileEndpoints = {
  addReplyFile: {
    method: "POST",
    path: "/api/v1/admin/tickets/{id}/files",
    tag: "Reviews",
    summary: "Hand in a file for a reply",
    description:
      "At most 10 MB. `reply` and `edit` name it in `attachments`; one that none names is gone after a day. The customer gets it as a download in the widget, as a file in the messenger, and as an attachment of the reply from the HTTP API.",
    scope: "tickets:write",
    body: {
      schema: operatorFileInputSchema,
      maxBytes: OPERATOR_FILE_LIMITS.bodyMaxBytes,
      otherTypes: { "multipart/form-data": "A form with one file, in a field of any name." },
    },
    answers: [createdAnswer(operatorFileSchema)],
    errors: ["rate_limited", "storage_full"],
    example: { body: { filename: "label.txt", content: "UmV0dXJuIGxhYmVs" } },
  },
} as const satisfies Record<string, Endpoint>;

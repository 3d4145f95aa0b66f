import { z } from "zod";
import { createdAnswer } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { wellFormedString } from "./well-formed.ts";

/** Limits of files attached by operators. */
export const OPERATOR_FILE_LIMITS = {
  /** Maximum number of files per reply. */
  maxCount: 10,
  fileMaxBytes: 10 * 1024 * 1024,
  /** Maximum body size of an upload, as base64 or as a form. */
  bodyMaxBytes: 15 * 1024 * 1024,
  /** Maximum number and bytes of a ticket's files that are not attached to a reply yet. */
  unusedMaxBytes: 100 * 1024 * 1024,
  /** Hours after which a file that is not attached to a reply is deleted. */
  unusedHours: 24,
} as const;

const NAME_MAX_CHARS = 500;
/** Base64 encodes three bytes as four characters. */
const CONTENT_MAX_CHARS = Math.ceil(OPERATOR_FILE_LIMITS.fileMaxBytes / 3) * 4;

/** A file uploaded as JSON. */
export const operatorFileInputSchema = z.strictObject({
  filename: wellFormedString.max(NAME_MAX_CHARS, { error: `must have at most ${NAME_MAX_CHARS} characters` }),
  content: z
    .base64({ error: "must be the content of the file in base64" })
    .max(CONTENT_MAX_CHARS, { error: `must have at most ${CONTENT_MAX_CHARS} characters` }),
});
export type OperatorFileInput = z.infer<typeof operatorFileInputSchema>;

/** An uploaded file for a reply. */
export const operatorFileSchema = z.object({
  fileId: z.uuid(),
  filename: z.string(),
  mime: z.string().describe("Detected from the content."),
  sizeBytes: z.int(),
});
export type OperatorFile = z.infer<typeof operatorFileSchema>;

/** Files attached to a reply, as referenced by a decision. */
export const replyFilesField = z
  .array(z.strictObject({ fileId: z.uuid({ error: "must be the ID of a file" }) }))
  .max(OPERATOR_FILE_LIMITS.maxCount, { error: `must have at most ${OPERATOR_FILE_LIMITS.maxCount} files` })
  .refine((files) => new Set(files.map(({ fileId }) => fileId.toLowerCase())).size === files.length, {
    error: "must not contain the same file twice",
  })
  .optional()
  .describe("Files of this ticket, as returned by `POST …/files`. The customer receives them after the text.");

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

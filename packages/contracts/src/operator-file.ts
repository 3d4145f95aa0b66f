import { z } from "zod";
import { wellFormedString } from "./well-formed.ts";

/** Bounds of the files that operators send. */
export const OPERATOR_FILE_LIMITS = {
  /** Files of one reply. */
  maxCount: 10,
  fileMaxBytes: 10 * 1024 * 1024,
  /** Of a call that hands one in: its content in base64, or a form. */
  bodyMaxBytes: 15 * 1024 * 1024,
  /** What of a ticket no reply names yet. */
  unusedMaxBytes: 100 * 1024 * 1024,
  /** Hours after which a file that no reply names is removed. */
  unusedHours: 24,
} as const;

const NAME_MAX_CHARS = 500;
/** Three bytes are four characters. */
const CONTENT_MAX_CHARS = Math.ceil(OPERATOR_FILE_LIMITS.fileMaxBytes / 3) * 4;

/** A file that is handed in as JSON. */
export const operatorFileInputSchema = z.strictObject({
  filename: wellFormedString.max(NAME_MAX_CHARS, { error: `at most ${NAME_MAX_CHARS} characters` }),
  content: z
    .base64({ error: "the bytes of the file in base64" })
    .max(CONTENT_MAX_CHARS, { error: `at most ${CONTENT_MAX_CHARS} characters` }),
});
export type OperatorFileInput = z.infer<typeof operatorFileInputSchema>;

/** A file that is handed in for a reply. */
export const operatorFileSchema = z.object({
  fileId: z.uuid(),
  filename: z.string(),
  mime: z.string().describe("By its content."),
  sizeBytes: z.int(),
});
export type OperatorFile = z.infer<typeof operatorFileSchema>;

/** The files that go with a reply, as a decision names them. */
export const replyFilesSchema = z
  .array(z.strictObject({ fileId: z.uuid({ error: "the id of a file" }) }))
  .max(OPERATOR_FILE_LIMITS.maxCount, { error: `at most ${OPERATOR_FILE_LIMITS.maxCount} files` })
  .refine((files) => new Set(files.map(({ fileId }) => fileId.toLowerCase())).size === files.length, {
    error: "each file once",
  })
  .optional()
  .describe("Files of this ticket, as `POST …/files` has named them; the customer gets them after the text.");

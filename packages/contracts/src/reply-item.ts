import { z } from "zod";

/** Author of a reply. */
export const replyAuthorSchema = z.enum(["agent", "operator", "system"]);
export type ReplyAuthor = z.infer<typeof replyAuthorSchema>;

/** Source of a statement in an answer. `quote` occurs in the document word for word. */
export const sourceSchema = z.object({
  title: z.string(),
  url: z.string().optional(),
  documentId: z.string(),
  chunkId: z.string(),
  quote: z.string().describe("The passage that the answer is based on, word for word as in the document."),
  excerpt: z
    .string()
    .optional()
    .describe("Start of the quote as one line of plain text, for display. Absent from older answers."),
});
export type Source = z.infer<typeof sourceSchema>;

/** A text to send, written by a pipeline stage or an operator. */
export interface MessageDraft {
  type: "message";
  text: string;
  markdown: boolean;
  sources?: Source[];
}

/** A file to send. */
export interface AttachmentDraft {
  type: "attachment";
  filename: string;
  mime: string;
  content: Buffer;
}

/** A reply item before it has an ID and a position in its chat. */
export type ReplyDraft = MessageDraft | AttachmentDraft;

/** Fields of every reply item in addition to those in the service document, section 2.2. */
const placeSchema = z.object({
  id: z.string(),
  seq: z.number().describe("Position in the chat. Always increasing."),
  createdAt: z.string(),
  inReplyTo: z.string().nullable(),
  author: replyAuthorSchema,
});

/** Element of the `replies` array (service document, section 2.2). */
export const replyItemSchema = z.discriminatedUnion("type", [
  placeSchema.extend({
    type: z.literal("message"),
    text: z.string(),
    markdown: z.boolean(),
    sources: z.array(sourceSchema).optional(),
  }),
  placeSchema.extend({
    type: z.literal("attachment"),
    filename: z.string(),
    mime: z.string(),
    base64: z.string(),
  }),
]);
export type ReplyItem = z.infer<typeof replyItemSchema>;

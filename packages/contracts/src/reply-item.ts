import { z } from "zod";

/** Who wrote a reply. */
export const replyAuthorSchema = z.enum(["agent", "operator", "system"]);
export type ReplyAuthor = z.infer<typeof replyAuthorSchema>;

/** Where an answer has a statement from: `quote` stands in the document word for word. */
export const sourceSchema = z.object({
  title: z.string(),
  url: z.string().optional(),
  documentId: z.string(),
  chunkId: z.string(),
  quote: z.string().describe("What the answer is taken from, word for word as it stands in the document."),
  excerpt: z
    .string()
    .optional()
    .describe("The beginning of the quote in one line of plain text, to show. Absent from older answers."),
});
export type Source = z.infer<typeof sourceSchema>;

/** A text to send, as a stage or an operator writes it. */
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

/** A reply item before it has an id and a place in its chat. */
export type ReplyDraft = MessageDraft | AttachmentDraft;

/** What every reply item carries beside the fields of the service document, section 2.2. */
const placeSchema = z.object({
  id: z.string(),
  seq: z.number().describe("Place in the chat, growing for ever."),
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

import { z } from "zod";
import { KB_LIMITS } from "./kb.ts";
import { cursorSchema, decodeKeyCursor, encodeKeyCursor, listFields } from "./list-query.ts";
import type { KeyPlace } from "./list-query.ts";
import { messageText } from "./well-formed.ts";

/** Bounds of gaps. */
export const GAP_LIMITS = {
  /** UTF-16 units of a question and of an example that are kept. */
  textMaxChars: 500,
  /** Examples of one gap, the newest. */
  examplesMaxCount: 10,
  /** Characters (Unicode code points) of an article's title, and bytes of the body that brings it. */
  titleMaxChars: 300,
  bodyMaxBytes: KB_LIMITS.jsonMaxBytes,
} as const;

/** Whether a gap waits to be closed, was closed by an article, or is to be left alone. */
export const gapStatusSchema = z.enum(["open", "answered", "ignored"], { error: "one of open, answered, ignored" });
export type GapStatus = z.infer<typeof gapStatusSchema>;

/** What a list of gaps is ordered by, the most and the newest first. */
export const gapSortSchema = z.enum(["count", "lastAt"], { error: "one of count, lastAt" });
export type GapSort = z.infer<typeof gapSortSchema>;

/** Name of the list that is sorted so, which its cursors are tied to. */
const listName = (sort: string) => `gaps ${sort}`;

/** The cursor of what follows a gap in the list that is sorted so. */
export function encodeGapCursor(sort: GapSort, place: KeyPlace): string {
  return encodeKeyCursor(listName(sort), place);
}

/**
 * What is asked of the list of gaps; `sort` is what the input says of it, for a cursor belongs to one order. The result
 * has, in place of the cursor, `after`: the place after which the list goes on.
 */
export function gapListSchema(sort: unknown) {
  const list = listName(typeof sort === "string" ? sort : "count");
  return z
    .object({
      status: gapStatusSchema.optional(),
      sort: gapSortSchema.default("count"),
      limit: listFields.limit,
      cursor: cursorSchema((cursor) => decodeKeyCursor(list, cursor)).optional(),
      q: listFields.q,
    })
    .transform(({ cursor, ...rest }) => ({ ...rest, after: cursor }));
}
export type GapListQuery = z.output<ReturnType<typeof gapListSchema>>;

/** A question that found no good answer, with those that ask the same. */
export const gapSchema = z.object({
  id: z.uuid(),
  question: z.string().describe("As it was asked first, without the courtesies around it."),
  language: z.string().nullable().describe("ISO 639-1; null where it is not clear."),
  count: z.int().describe("Messages that asked it."),
  examples: z
    .array(z.object({ text: z.string(), ticketId: z.uuid(), at: z.iso.datetime() }))
    .describe("The newest of these messages, each cut to 500 characters."),
  lastAt: z.iso.datetime(),
  createdAt: z.iso.datetime(),
  status: gapStatusSchema,
  agentId: z
    .uuid()
    .nullable()
    .describe(
      "Who should have answered when it was asked last, and its knowledge bases; null and none when no agent fitted.",
    ),
  kbIds: z.array(z.string()),
  article: z
    .object({ kbId: z.uuid(), documentId: z.uuid() })
    .nullable()
    .describe("The article that was written for it."),
  version: z.int(),
});
export type Gap = z.infer<typeof gapSchema>;

/** A gap with what its agent would answer now. */
export const gapDetailSchema = gapSchema.extend({
  answerNow: z
    .object({ text: z.string().nullable(), confidence: z.number(), sends: z.boolean(), why: z.string() })
    .nullable()
    .describe(
      "Null when no agent has it, and for a key without kb:read. `text` is null when there still is no answer.",
    ),
});
export type GapDetail = z.infer<typeof gapDetailSchema>;

/** A gap whose article was written: a key that may not read tickets learns nothing of what customers have written. */
export const answeredGapSchema = gapSchema.extend({
  question: z.string().nullable().describe("Null for a key without tickets:read, which gets no examples either."),
});
export type AnsweredGap = z.infer<typeof answeredGapSchema>;

/** Body of `PATCH /api/v1/admin/gaps/:id`. Unknown fields are faults. */
export const gapChangeSchema = z.strictObject({ status: gapStatusSchema });
export type GapChange = z.infer<typeof gapChangeSchema>;

/** Title of an article: one line of characters to show. */
export const articleTitleSchema = messageText(GAP_LIMITS.titleMaxChars).refine((title) => !/[\r\n]/.test(title), {
  error: "must be one line",
  params: { code: "invalid_title" },
});

/** Text of an article, in Markdown. */
export const articleTextSchema = messageText(KB_LIMITS.jsonMaxBytes);

/** Body of `POST /api/v1/admin/gaps/:id/article`. Unknown fields are faults. */
export const gapArticleSchema = z.strictObject({
  kbId: z.uuid({ error: "the id of a knowledge base" }),
  title: articleTitleSchema.describe("Stays in the knowledge base, so put no customer's name into it."),
  text: articleTextSchema,
});
export type GapArticle = z.infer<typeof gapArticleSchema>;

import { createHash } from "node:crypto";
import { z } from "zod";
import { channelIdSchema } from "./incoming-message.ts";
import { LIMITS } from "./limits.ts";
import { countChars, hasControlCharacters, wellFormedString } from "./well-formed.ts";

/** An id that a sender has chosen, as messages carry it. */
function idUpTo(maxChars: number) {
  return wellFormedString
    .min(1, { error: "at least 1 character" })
    .refine((id) => countChars(id) <= maxChars, { error: `at most ${maxChars} characters` })
    .meta({ maxLength: maxChars });
}

/** True when it is an object: then what its fields are to each other is looked at, whatever else is wrong with them. */
function hasFields({ value }: { value: unknown }): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Body of `POST /api/v1/admin/privacy/export` and `…/erase`: whose data, in exactly one way. Unknown fields are faults.
 */
export const privacySubjectSchema = z
  .strictObject({
    userId: idUpTo(LIMITS.userIdMaxChars)
      .optional()
      .describe(
        "A user, as messages name it in `userId` or in `meta.userId`: every chat in which that user wrote, as a whole.",
      ),
    visitorId: z
      .uuid({ error: "the id of a visitor, a UUID" })
      .optional()
      .describe("A visitor of the widget, by the secret that the visitor's browser has."),
    chatId: idUpTo(LIMITS.chatIdMaxChars)
      .refine((id) => !hasControlCharacters(id), { error: "must not contain control characters" })
      .optional()
      .describe("A chat, on every channel unless one is named."),
    channelId: channelIdSchema.optional(),
  })
  .refine(
    ({ userId, visitorId, chatId }) => [userId, visitorId, chatId].filter((id) => id !== undefined).length === 1,
    {
      error: "must have exactly one of userId, visitorId and chatId",
      params: { code: "exactly_one" },
      when: hasFields,
    },
  )
  .refine(({ chatId, channelId }) => channelId === undefined || chatId !== undefined, {
    path: ["channelId"],
    error: "goes with a chatId only",
    params: { code: "not_allowed" },
    when: hasFields,
  });
export type PrivacySubject = z.infer<typeof privacySubjectSchema>;

/** How many of each kind: `messages`, `replies`, `attachments`, `events` and so on. */
const countsSchema = z.record(z.string(), z.int());

/** What an erasure has done. */
export const erasureReceiptSchema = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  project: z.string().describe("Name of the project."),
  subject: z
    .string()
    .describe("The kind of id and a keyed hash of it: the same for the same id, and nobody can tell the id from it."),
  counts: countsSchema.describe("Rows that were erased, by kind; all 0 when nothing was held."),
});
export type ErasureReceipt = z.infer<typeof erasureReceiptSchema>;

/** What is held of somebody: `item` of `POST /api/v1/admin/privacy/export`. */
export const privacyExportSchema = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  project: z.string(),
  subject: z.string().describe("As in the receipt of an erasure."),
  tickets: z.array(
    z
      .object({
        ticketId: z.uuid(),
        records: z.record(z.string(), z.array(z.record(z.string(), z.unknown()))),
      })
      .describe(
        "One for each conversation; `records` by kind, each record with the fields of its kind. Bytes are in base64.",
      ),
  ),
  records: z
    .record(z.string(), z.array(z.record(z.string(), z.unknown())))
    .describe("What belongs to none of them, by kind: bodies of hooks that no message was made of."),
  counts: countsSchema,
});
export type PrivacyExport = z.infer<typeof privacyExportSchema>;

/**
 * The chat of a widget's visitor: `v_` and the base64url SHA-256 of ("svc-visitor", visitorId). It may be shown; the
 * visitorId, which is a secret, cannot be told from it.
 */
export function visitorChatId(visitorId: string): string {
  // As JSON, so that no other pair makes the same bytes; UUIDs are the same in any case of their letters.
  const pair = JSON.stringify(["svc-visitor", visitorId.toLowerCase()]);
  return `v_${createHash("sha256").update(pair).digest("base64url")}`;
}

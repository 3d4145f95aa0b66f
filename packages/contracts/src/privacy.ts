import { createHash } from "node:crypto";
import { z } from "zod";
import { itemAnswer, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { channelIdSchema } from "./message-request.ts";
import { countChars, hasControlCharacters, LIMITS, wellFormedString } from "./limits.ts";
import { WIDGET_LIMITS } from "./widget.ts";

/** An ID chosen by a sender, as in messages. */
function idUpTo(maxChars: number) {
  return wellFormedString
    .min(1, { error: "must have at least 1 character" })
    .refine((id) => countChars(id) <= maxChars, { error: `must have at most ${maxChars} characters` })
    .meta({ maxLength: maxChars });
}

/** Returns true for an object, so that relations between its fields are validated even if a field is invalid. */
function hasFields({ value }: { value: unknown }): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Body of `POST /api/v1/admin/privacy/export` and `…/erase`: the person, identified in exactly one way. Unknown fields
 * are rejected.
 */
export const privacySubjectSchema = z
  .strictObject({
    userId: idUpTo(LIMITS.userIdMaxChars)
      .optional()
      .describe(
        "A user, as in `userId` or `meta.userId` of messages. Covers every chat in which the user wrote, as a whole.",
      ),
    visitorId: z
      .uuid({ error: "must be the ID of a visitor, a UUID" })
      .optional()
      .describe("A visitor of the widget, by the secret ID stored in the visitor's browser."),
    customerId: z
      .uuid({ error: "must be the ID of a customer, a UUID" })
      .optional()
      .describe("A customer: every conversation of the customer, and every chat in which one of its users wrote."),
    chatId: idUpTo(LIMITS.chatIdMaxChars)
      .refine((id) => !hasControlCharacters(id), { error: "must not contain control characters" })
      .optional()
      .describe("A chat, on every channel unless `channel` is given."),
    channelId: channelIdSchema.optional(),
  })
  .refine(
    ({ userId, visitorId, customerId, chatId }) =>
      [userId, visitorId, customerId, chatId].filter((id) => id !== undefined).length === 1,
    {
      error: "must have exactly one of userId, visitorId, customerId and chatId",
      params: { code: "exactly_one" },
      when: hasFields,
    },
  )
  .refine(({ chatId, channelId }) => channelId === undefined || chatId !== undefined, {
    path: ["channelId"],
    error: "is only allowed with chatId",
    params: { code: "not_allowed" },
    when: hasFields,
  });
export type PrivacySubject = z.infer<typeof privacySubjectSchema>;

/** Number of records by kind: `messages`, `replies`, `attachments`, `events` and so on. */
const countsSchema = z.record(z.string(), z.int());

/** Result of an erasure. */
export const erasureReceiptSchema = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  project: z.string().describe("Name of the project."),
  subject: z
    .string()
    .describe("Kind of the ID and a keyed hash of it. The hash is the same for the same ID and does not reveal it."),
  counts: countsSchema.describe("Number of erased rows by kind. All 0 if there was no data."),
});
export type ErasureReceipt = z.infer<typeof erasureReceiptSchema>;

/** Data of a person: `item` of `POST /api/v1/admin/privacy/export`. */
export const privacyExportSchema = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  project: z.string(),
  subject: z.string().describe("Same as in the receipt of an erasure."),
  tickets: z.array(
    z
      .object({
        ticketId: z.uuid(),
        records: z.record(z.string(), z.array(z.record(z.string(), z.unknown()))),
      })
      .describe(
        "One entry per conversation; `records` by kind, each record with the fields of its kind. Bytes are base64-encoded.",
      ),
  ),
  records: z
    .record(z.string(), z.array(z.record(z.string(), z.unknown())))
    .describe("Records outside of conversations, by kind: customers, and bodies of hooks that created no message."),
  counts: countsSchema,
});
export type PrivacyExport = z.infer<typeof privacyExportSchema>;

/**
 * Returns the chat ID of a conversation of a widget visitor: `v_` and the base64url SHA-256 of ("svc-visitor", visitorId),
 * and of the conversation's number after the first one. It is safe to show, because it does not reveal the secret visitorId.
 */
export function visitorChatId(visitorId: string, conversation = 1): string {
  // As JSON, so that the encoding is unambiguous; UUIDs are case-insensitive.
  const parts = ["svc-visitor", visitorId.toLowerCase(), ...(conversation === 1 ? [] : [conversation])];
  return `v_${createHash("sha256").update(JSON.stringify(parts)).digest("base64url")}`;
}

/** Returns the chat IDs of all conversations that a visitor can have, by number. */
export const visitorChatIds = (visitorId: string): string[] =>
  Array.from({ length: WIDGET_LIMITS.conversationsMaxCount }, (_, index) => visitorChatId(visitorId, index + 1));

const route = routesAt("Privacy", "/api/v1/admin/privacy");

/** Personal data of one person in the key's project: export and erasure. */
export const privacyEndpoints = {
  exportPersonalData: {
    ...route("POST /export", "privacy:read", "Export all data of a user, a visitor, a customer or a chat"),
    description:
      "A JSON document of any length, streamed as it is read. If the response is incomplete, repeat the request.",
    body: { schema: privacySubjectSchema },
    answers: [itemAnswer(privacyExportSchema, { when: "All stored data. Empty if there is none." })],
    example: { body: { userId: "u-42" } },
  },
  erasePersonalData: {
    ...route("POST /erase", "privacy:write", "Erase all data of a user, a visitor, a customer or a chat"),
    description:
      "Cannot be undone. Later messages start a new conversation. Erasing again is not an error; all counts are then 0.",
    body: { schema: privacySubjectSchema },
    answers: [itemAnswer(erasureReceiptSchema, { when: "The data is erased. The response is the receipt." })],
    example: { body: { chatId: "4711", channelId: "api" } },
  },
} as const satisfies Record<string, Endpoint>;

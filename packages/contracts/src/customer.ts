import { z } from "zod";
import { itemAnswer, listAnswer, listQuery, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { LIMITS, lineUpTo, messageText } from "./limits.ts";
import { cursorSchema, decodeKeyCursor, encodeKeyCursor, listFields } from "./list-query.ts";
import type { KeyPosition } from "./list-query.ts";

/** Limits of a customer's data. Characters are Unicode code points. */
export const CUSTOMER_LIMITS = {
  nameMaxChars: 100,
  emailMaxChars: 254,
  phoneMaxChars: 40,
  attributesMaxCount: 50,
  attributeNameMaxChars: 64,
  attributeMaxChars: 500,
  notesMaxCount: 100,
  noteMaxChars: 5_000,
} as const;

/** The customer of a ticket, as its lists show them. Not verified. */
export const customerSchema = z.object({
  id: z.uuid().nullable().describe("Null for about a second after the first message, and in other projects."),
  name: z.string().nullable().describe("One line, without control and bidirectional characters."),
  email: z.string().nullable(),
  alias: z.string().nullable().describe("Friendly name of a customer whose name is unknown, such as `Quiet Otter`."),
});
export type Customer = z.infer<typeof customerSchema>;

/** Sender information from messages; null if unknown. Not verified. */
export interface CustomerProfile {
  name: string | null;
  email: string | null;
  phone: string | null;
  /** IANA name, such as `Europe/Berlin`. */
  timeZone: string | null;
}

/**
 * Fields of `channel_meta` that can contain the customer, by priority: the form before the first message in the widget
 * (`contact`), callers of the HTTP API (`customer`, `user` or the top level), and the sender in Telegram. Documented in
 * docs/tickets.md.
 */
const CUSTOMER_PATHS = [["contact"], ["customer"], ["user"], [], ["telegram", "from"]] as const;

/**
 * Characters that could break a line or reorder the text around it: control characters, line separators, unpaired
 * surrogates and format characters, except the two joiners, which Persian names, Indic names and emoji need.
 */
const UNSAFE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const VISIBLE = /[\p{L}\p{N}\p{S}\p{P}]/u;
const EMAIL = /^[^\s@<>"(),:;\\[\]]+@[^\s@<>"(),:;\\[\]]+$/u;

/** Returns true for a plausible e-mail address of bounded length. */
export const isEmailAddress = (text: string): boolean =>
  text.length <= CUSTOMER_LIMITS.emailMaxChars && EMAIL.test(text);

/** Longer values are truncated before parsing, so that 64 KB of meta cost no more than a name. */
const READ_MAX_UNITS = 1_000;

/** Returns one line of untrusted text that is safe to show between other texts, truncated to this many code points. */
export function safeLine(text: string, maxChars: number): string {
  const line = text.replace(/\s+/gu, " ").replace(UNSAFE, "").replace(/ {2,}/g, " ").trim();
  const characters = Array.from(line);
  return characters.length <= maxChars ? line : `${characters.slice(0, maxChars - 1).join("")}…`;
}

const textOf = (value: unknown) => (typeof value === "string" ? value.slice(0, READ_MAX_UNITS) : "");

function readName(position: Record<string, unknown>): string | null {
  const { name, username } = position;
  const written = safeLine(textOf(name), CUSTOMER_LIMITS.nameMaxChars);
  if (VISIBLE.test(written)) return written;
  const handle = safeLine(textOf(username), CUSTOMER_LIMITS.nameMaxChars - 1);
  return VISIBLE.test(handle) ? `@${handle.replace(/^@/, "")}` : null;
}

function readEmail({ email }: Record<string, unknown>): string | null {
  const address = textOf(email).replace(UNSAFE, "").trim();
  return isEmailAddress(address) ? address : null;
}

const PHONE = /^\+?[\d\s().\-/]{4,}$/u;

function readPhone({ phone }: Record<string, unknown>): string | null {
  const line = safeLine(textOf(phone), CUSTOMER_LIMITS.phoneMaxChars);
  return PHONE.test(line) ? line : null;
}

/** Four digits of a phone number; an extension or a word may stand beside them. */
const DIGITS = /(?:\d\D{0,3}){4}/u;

const ZONE = /^[A-Za-z_]+(?:\/[A-Za-z0-9_+-]+){0,2}$/;

/** Returns true for a time zone that this runtime knows by its IANA name. */
export function isTimeZone(name: string): boolean {
  if (!ZONE.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    // A RangeError is the only indication of an unknown time zone.
    return false;
  }
}

function readTimeZone({ timeZone }: Record<string, unknown>): string | null {
  const name = textOf(timeZone);
  return isTimeZone(name) ? name : null;
}

function valueAt(meta: Record<string, unknown>, path: readonly string[]): Record<string, unknown> | null {
  let position: unknown = meta;
  for (const key of path) {
    position =
      typeof position === "object" && position !== null ? Object.getOwnPropertyDescriptor(position, key)?.value : null;
  }
  return typeof position === "object" && position !== null && !Array.isArray(position)
    ? (position as Record<string, unknown>)
    : null;
}

/**
 * Returns the customer information in a ticket's `channel_meta`. All of it comes from the sender and is not verified.
 * The texts are bounded, on one line, and free of control and bidirectional characters; show them as text only.
 */
export function profileOf(channelMeta: Record<string, unknown>): CustomerProfile {
  const profile: CustomerProfile = { name: null, email: null, phone: null, timeZone: null };
  for (const path of CUSTOMER_PATHS) {
    const position = valueAt(channelMeta, path);
    if (position === null) continue;
    profile.name ??= readName(position);
    profile.email ??= readEmail(position);
    profile.phone ??= readPhone(position);
    profile.timeZone ??= readTimeZone(position);
  }
  return profile;
}

/** Returns the name and email address of `profileOf`, or null if it has neither. */
export function customerOf(channelMeta: Record<string, unknown>): Pick<Customer, "name" | "email"> | null {
  const { name, email } = profileOf(channelMeta);
  return name === null && email === null ? null : { name, email };
}

/** Kinds of identities by which channels recognize a customer. */
export const identityKindSchema = z
  .enum(["user", "email", "telegram", "visitor", "chat"])
  .describe(
    "`user`: the `userId` of messages; `email`: a `userId` that is an e-mail address; `telegram`: a Telegram user; `visitor`: a browser with the widget; `chat`: a chat of the API.",
  );
export type IdentityKind = z.infer<typeof identityKindSchema>;

/** A customer's own values, by their names. */
const attributesSchema = z
  .record(
    lineUpTo(CUSTOMER_LIMITS.attributeNameMaxChars).regex(/^[^:=]*$/, {
      error: "must not contain a colon or an equals sign",
    }),
    z.union([lineUpTo(CUSTOMER_LIMITS.attributeMaxChars), z.number(), z.boolean()], {
      error: `must be one line of at most ${CUSTOMER_LIMITS.attributeMaxChars} characters, a number or a boolean`,
    }),
  )
  .refine((attributes) => Object.keys(attributes).length <= CUSTOMER_LIMITS.attributesMaxCount, {
    error: `must have at most ${CUSTOMER_LIMITS.attributesMaxCount} attributes`,
    params: { code: "too_many" },
  });
export type CustomerAttributes = z.infer<typeof attributesSchema>;

/** A person who writes to a project. */
export const customerItemSchema = z.object({
  id: z.uuid(),
  alias: z.string().describe("Friendly name that never changes, for a customer whose name is unknown."),
  name: z.string().nullable(),
  email: z.string().nullable().describe("Not verified, unless `identities` has it too."),
  phone: z.string().nullable(),
  language: z.string().nullable().describe("ISO 639-1."),
  timeZone: z.string().nullable().describe("IANA name, such as `Europe/Berlin`."),
  externalId: z.string().nullable().describe("ID of the customer in your systems. Defaults to the `userId`."),
  attributes: attributesSchema,
  identities: z
    .array(z.object({ kind: identityKindSchema, value: z.string() }))
    .describe("What channels know the customer by, at most 100."),
  firstSeenAt: z.iso.datetime(),
  lastSeenAt: z.iso.datetime().describe("At most a minute behind the newest message."),
  isBlocked: z.boolean().describe("True if messages of the customer get no answer: their tickets become spam."),
  unsubscribedAt: z.iso
    .datetime()
    .nullable()
    .describe("Since when the customer gets no emails. Null if emails are sent where the project sends any."),
  version: z.int(),
});
export type CustomerItem = z.infer<typeof customerItemSchema>;

/** A note of an operator on a customer, for other operators. */
export const customerNoteSchema = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  author: z.string().describe("Actor, such as `operator:<id>` or `key:<id>`."),
  text: z.string().describe("Markdown."),
});
export type CustomerNote = z.infer<typeof customerNoteSchema>;

/** A customer with its notes. */
export const customerDetailSchema = customerItemSchema.extend({
  notes: z
    .array(customerNoteSchema)
    .describe(
      `Notes of operators, oldest first. The customer does not see them. At most ${CUSTOMER_LIMITS.notesMaxCount}.`,
    ),
});
export type CustomerDetail = z.infer<typeof customerDetailSchema>;

/** Body of `POST /api/v1/admin/customers/:id/notes`. Unknown fields are rejected. */
export const customerNoteInputSchema = z.strictObject({ text: messageText(CUSTOMER_LIMITS.noteMaxChars) });

/** Body of `PATCH /api/v1/admin/customers/:id`. Unknown fields are rejected. */
export const customerChangeSchema = z.strictObject({
  name: lineUpTo(CUSTOMER_LIMITS.nameMaxChars).nullable().optional(),
  email: z
    .string()
    .refine(isEmailAddress, { error: "must be an e-mail address", params: { code: "invalid_email" } })
    .nullable()
    .optional(),
  phone: lineUpTo(CUSTOMER_LIMITS.phoneMaxChars)
    .refine((line) => DIGITS.test(line), { error: "must be a phone number", params: { code: "invalid_phone" } })
    .nullable()
    .optional(),
  language: z
    .string()
    .regex(/^[a-z]{2}$/, { error: "must be an ISO 639-1 code such as en" })
    .nullable()
    .optional(),
  timeZone: z
    .string()
    .refine(isTimeZone, { error: "must be a time zone such as Europe/Berlin", params: { code: "invalid_time_zone" } })
    .nullable()
    .optional(),
  externalId: lineUpTo(LIMITS.userIdMaxChars).nullable().optional(),
  attributes: attributesSchema.optional().describe("Replaced as a whole."),
  unsubscribed: z
    .boolean({ error: "must be true or false" })
    .optional()
    .describe("True: the customer gets no emails. Set it to false only if the customer has asked for emails again."),
});
export type CustomerChange = z.infer<typeof customerChangeSchema>;

/** Body of `POST /api/v1/admin/customers/:id/merge`. Unknown fields are rejected. */
export const customerMergeSchema = z.strictObject({
  customerId: z.uuid({ error: "must be the ID of a customer" }).describe("The customer that becomes part of this one."),
});

const LIST = "customers";

/** Returns the cursor of the page after a customer. */
export const encodeCustomerCursor = (position: KeyPosition): string => encodeKeyCursor(LIST, position);

/** Query of the list of customers. The result has `after`, the decoded position, instead of the cursor. */
export const customerListSchema = z
  .object({
    limit: listFields.limit,
    cursor: cursorSchema((cursor) => decodeKeyCursor(LIST, cursor)).optional(),
    q: listFields.q,
  })
  .transform(({ cursor, ...rest }) => ({ ...rest, after: cursor }));
export type CustomerListQuery = z.output<typeof customerListSchema>;

const route = routesAt("Customers", "/api/v1/admin/customers");

/** Customers: the people who write to a project. */
export const customerEndpoints = {
  listCustomers: {
    ...route("GET", "tickets:read", "List customers, most recently seen first"),
    description:
      "`q` searches names, the e-mail address, the phone number, the external ID and the attributes, and finds the exact value of an identity. Conversations of a customer: `GET /api/v1/admin/tickets?customerId=…`.",
    query: listQuery,
    answers: [listAnswer(customerItemSchema)],
    example: { query: { q: "jonas" } },
  },
  getCustomer: {
    ...route("GET /{id}", "tickets:read", "Get a customer"),
    description: "The ID of a merged customer returns the customer that it is part of now.",
    answers: [itemAnswer(customerDetailSchema)],
  },
  updateCustomer: {
    ...route("PATCH /{id}", "tickets:write", "Update a customer"),
    description:
      "Omitted fields stay unchanged. What channels say later does not replace a field that was set here. Attributes are replaced as a whole.",
    body: { schema: customerChangeSchema },
    ifMatch: true,
    answers: [itemAnswer(customerDetailSchema)],
    example: { body: { name: "Jonas Weber", attributes: { plan: "pro", seats: 12 } } },
  },
  mergeCustomer: {
    ...route("POST /{id}/merge", "tickets:write", "Merge another customer into this one"),
    description:
      "Cannot be undone. Identities and conversations of the other customer move to this one, which keeps its own facts and gets what it lacks. The ID of the other customer then returns this one.",
    body: { schema: customerMergeSchema },
    answers: [itemAnswer(customerDetailSchema)],
    example: { body: { customerId: "01890a5d-ac96-774b-bcce-b302099a8057" } },
  },
  blockCustomer: {
    ...route("POST /{id}/block", "tickets:write", "Block a customer"),
    description:
      "Open conversations of the customer become `spam`, and later messages on any channel are accepted and make their tickets `spam`: no agent processes them, and the customer gets no reply.",
    answers: [itemAnswer(customerDetailSchema)],
  },
  unblockCustomer: {
    ...route("POST /{id}/unblock", "tickets:write", "Unblock a customer"),
    description:
      "Later messages are processed as usual, also in conversations that became `spam` by the block. What was written meanwhile is not answered.",
    answers: [itemAnswer(customerDetailSchema)],
  },
  addCustomerNote: {
    ...route("POST /{id}/notes", "tickets:write", "Add a note to a customer"),
    description: "Operators see it. The customer does not.",
    body: { schema: customerNoteInputSchema },
    answers: [itemAnswer(customerDetailSchema)],
    example: { body: { text: "Pays by invoice. Prefers to be called in the morning." } },
  },
  deleteCustomerNote: {
    ...route("DELETE /{id}/notes/{noteId}", "tickets:write", "Delete a note of a customer"),
    answers: [itemAnswer(customerDetailSchema)],
  },
} as const satisfies Record<string, Endpoint>;

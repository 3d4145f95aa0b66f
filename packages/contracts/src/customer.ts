import { z } from "zod";

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

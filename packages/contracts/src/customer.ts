import { z } from "zod";

/** Bounds of what a ticket says of its customer. Characters are Unicode code points. */
export const CUSTOMER_LIMITS = { nameMaxChars: 100, emailMaxChars: 254 } as const;

/** The customer, as far as a ticket's `channel_meta` names one. Not verified. */
export const customerSchema = z.object({
  name: z.string().nullable().describe("One line, without control and bidirectional characters."),
  email: z.string().nullable(),
});
export type Customer = z.infer<typeof customerSchema>;

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
  return address.length <= CUSTOMER_LIMITS.emailMaxChars && EMAIL.test(address) ? address : null;
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
 * Returns the name and email address that a ticket's `channel_meta` gives for its customer, or null if it gives
 * neither. Both come from the sender and are not verified. The texts are bounded, on one line, and free of control and
 * bidirectional characters; show them as text only.
 */
export function customerOf(channelMeta: Record<string, unknown>): Customer | null {
  let name: string | null = null;
  let email: string | null = null;
  for (const path of CUSTOMER_PATHS) {
    const position = valueAt(channelMeta, path);
    if (position === null) continue;
    name ??= readName(position);
    email ??= readEmail(position);
  }
  return name === null && email === null ? null : { name, email };
}

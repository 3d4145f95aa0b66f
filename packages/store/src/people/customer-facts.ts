import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { LIMITS, UPDATES_CHANNEL, isEmailAddress, isIssueChat, profileOf, safeLine } from "@svc/contracts";
import type { ChannelId, CustomerAttributes, IdentityKind } from "@svc/contracts";
import type { ProjectId } from "../ids.ts";

/** An identity of a customer in a channel; unique in a project. */
export interface CustomerIdentity {
  kind: IdentityKind;
  value: string;
}

/** A person who writes to a project. */
export interface CustomerRecord {
  id: string;
  /** Friendly name that never changes. */
  alias: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  language: string | null;
  timeZone: string | null;
  externalId: string | null;
  attributes: CustomerAttributes;
  /** Fields that an operator has set: later values of channels do not replace them. */
  edited: string[];
  firstSeenAt: Date;
  /** At most `SEEN_STEP_MS` behind the newest message. */
  lastSeenAt: Date;
  /** True if messages of the customer are not answered: their tickets become spam. */
  isBlocked: boolean;
  /** Time since which the customer gets no emails; null if they are sent, if the project sends any. */
  unsubscribedAt: Date | null;
  version: number;
  identities: CustomerIdentity[];
}

/** A note of an operator on a customer, for other operators. */
export interface CustomerNote {
  id: string;
  /** ISO 8601. */
  at: string;
  /** Actor, such as `operator:<id>`. */
  author: string;
  text: string;
}

/** A customer with its notes, oldest first. */
export interface DetailedCustomer extends CustomerRecord {
  notes: CustomerNote[];
}

/** Facts that channels state and people set. */
export const FACTS = ["name", "email", "phone", "language", "timeZone", "externalId"] as const;

/** A phone number as people write it. */
const PHONE = /^\+?[\d\s()./-]+$/;

/** Returns the digits of a phone number without leading zeros, at least `min`; null for another text. */
export function phoneDigitsOf(text: string | null | undefined, min: number): string | null {
  const number = (text ?? "").trim();
  if (!PHONE.test(number)) return null;
  const digits = number.replace("(0)", "").replaceAll(/\D/g, "").replace(/^0+/, "");
  return digits.length < min ? null : digits;
}

/** The last digits of a number are searched for: it may be stored without the prefix of its country. */
const MAX_SEARCHED_DIGITS = 8;

/** Returns the digits by which a search finds a phone number; null for a text that is none, or has fewer than `min`. */
export const searchedDigitsOf = (text: string | undefined, min: number): string | null =>
  phoneDigitsOf(text, min)?.slice(-MAX_SEARCHED_DIGITS) ?? null;

/** What a ticket contains about its customer, in the project that received it. */
export interface TicketPerson {
  ticketId: string;
  project: ProjectId;
  channelId: ChannelId;
  chatId: string;
  userId: string | null;
  language: string | null;
  channelMeta: Record<string, unknown>;
  createdAt: Date;
  /** Creation time of the ticket, in microseconds: a ticket that was erased and created again has the same id. */
  createdUs: number;
  /** Time of its newest message; null if none exists. */
  seenAt: Date | null;
}

/** A message within this time after the last recorded one changes nothing, so that a busy chat costs no writes. */
const SEEN_STEP_MS = 60_000;

/** Verified identities: by the holder of a key, a signature, or Telegram. */
const STRONG: ReadonlySet<IdentityKind> = new Set(["user", "email", "telegram"]);

/** Returns true if the person has an identity other than a browser or a chat. */
export const isKnown = ({ identities }: { identities: readonly CustomerIdentity[] }): boolean =>
  identities.some(({ kind }) => STRONG.has(kind));

/** Returns the verified identities of `found`. */
export const verifiedIdentitiesOf = (found: readonly CustomerIdentity[]): CustomerIdentity[] =>
  found.filter(({ kind }) => STRONG.has(kind));

/**
 * Returns the identities of a ticket's customer: the user that it names and, if that is an email address, the address;
 * else the browser, or the API chat if it names a user. Empty for issues, and for calls without any person.
 */
export function identitiesOf(person: Sender): CustomerIdentity[] {
  const { channelId, chatId, channelMeta } = person;
  if (isIssueChat(person)) return [];
  const named = channelId === "api" ? channelMeta["userId"] : null;
  const userId = person.userId ?? (typeof named === "string" && named.length <= LIMITS.userIdMaxChars ? named : null);
  const identities: CustomerIdentity[] = [];
  if (userId !== null && userId !== "") {
    identities.push({ kind: channelId === UPDATES_CHANNEL ? "telegram" : "user", value: userId });
    if (isEmailAddress(userId)) identities.push({ kind: "email", value: userId.toLowerCase() });
  }
  // Later conversations of a visitor name the first one: all of them belong to one customer.
  const { firstChatId: first } = channelMeta;
  if (channelId === "widget") identities.push({ kind: "visitor", value: typeof first === "string" ? first : chatId });
  if (channelId === "api" && identities.length === 0) {
    const { name, email, phone } = profileOf(channelMeta);
    if (name !== null || email !== null || phone !== null) identities.push({ kind: "chat", value: chatId });
  }
  return identities;
}

/**
 * Returns the customer updated from the ticket, or null if nothing changes. The newest ticket wins, an older one only
 * adds missing fields, and fields that an operator has set are unchanged.
 */
export function withFactsOf(customer: CustomerRecord, person: TicketPerson): CustomerRecord | null {
  const { createdAt, seenAt } = person;
  const lastSeenAt = seenAt ?? createdAt;
  const isNewer = lastSeenAt >= customer.lastSeenAt;
  const changed = { ...customer };
  const profile = profileOf(person.channelMeta);
  const userId = identitiesOf(person).find(({ kind }) => kind === "user")?.value ?? null;
  const email = profile.email ?? (userId !== null && isEmailAddress(userId) ? userId : null);
  const externalId = userId === null ? null : safeLine(userId, LIMITS.userIdMaxChars) || null;
  const said = { ...profile, email, language: person.language, externalId };
  let hasNews = false;
  for (const fact of FACTS) {
    const value = said[fact];
    const isOpen = customer[fact] === null || (isNewer && fact !== "externalId");
    if (value === null || value === customer[fact] || !isOpen || customer.edited.includes(fact)) continue;
    changed[fact] = value;
    hasNews = true;
  }
  if (hasNews) changed.version += 1;
  if (createdAt < customer.firstSeenAt) changed.firstSeenAt = createdAt;
  if (isNewer && (hasNews || lastSeenAt.getTime() - customer.lastSeenAt.getTime() >= SEEN_STEP_MS)) {
    changed.lastSeenAt = lastSeenAt;
  }
  const isSeen = changed.firstSeenAt !== customer.firstSeenAt || changed.lastSeenAt !== customer.lastSeenAt;
  return hasNews || isSeen ? changed : null;
}

/** Attributes for what both of two merged customers have, and one can have only once: `email2`, `email3`. */
function secondContacts(into: CustomerRecord, from: CustomerRecord): CustomerRecord["attributes"] {
  const found: CustomerRecord["attributes"] = {};
  const known = { ...from.attributes, ...into.attributes };
  for (const fact of ["email", "phone"] as const) {
    const value = from[fact];
    if (value === null || into[fact] === null || [into[fact], ...Object.values(known)].includes(value)) continue;
    let number = 2;
    while (known[`${fact}${number}`] !== undefined) number += 1;
    found[`${fact}${number}`] = value;
  }
  return found;
}

/**
 * Merges two customers: the fields of `into`, completed by those of `from`, of which another address or number becomes an
 * attribute; blocked and unsubscribed if either was.
 */
export function mergedCustomer(into: CustomerRecord, from: CustomerRecord, maxAttributes: number): CustomerRecord {
  const merged = { ...into, version: into.version + 1 };
  for (const fact of FACTS) merged[fact] ??= from[fact];
  const attributes = Object.entries({
    ...into.attributes,
    ...secondContacts(into, from),
    ...from.attributes,
    ...into.attributes,
  });
  return {
    ...merged,
    isBlocked: into.isBlocked || from.isBlocked,
    unsubscribedAt: into.unsubscribedAt ?? from.unsubscribedAt,
    attributes: Object.fromEntries(attributes.slice(0, maxAttributes)),
    edited: [
      ...new Set([...into.edited, ...from.edited.filter((fact) => into[fact as keyof CustomerRecord] === null)]),
    ],
    firstSeenAt: from.firstSeenAt < into.firstSeenAt ? from.firstSeenAt : into.firstSeenAt,
    lastSeenAt: from.lastSeenAt > into.lastSeenAt ? from.lastSeenAt : into.lastSeenAt,
  };
}

interface NameWords {
  adjectives: string[];
  animals: string[];
}

const words = JSON.parse(readFileSync(new URL("../../data/friendly-names.json", import.meta.url), "utf8")) as NameWords;

/** Returns a friendly name such as "Quiet Otter": the same for the same identity in a project. */
export function friendlyName(project: ProjectId, { kind, value }: CustomerIdentity): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([project, kind, value]))
    .digest();
  const { adjectives, animals } = words;
  const adjective = adjectives[hash.readUInt32BE(0) % adjectives.length] ?? "";
  const animal = animals[hash.readUInt32BE(4) % animals.length] ?? "";
  return `${adjective} ${animal}`;
}

/** Parts of a ticket that identify its customer. */
type Sender = Pick<TicketPerson, "project" | "channelId" | "chatId" | "userId" | "channelMeta">;

/**
 * Returns the friendly name that the customer of a ticket gets when it is created; null if the ticket has no customer.
 * `project` is the home project.
 */
export function friendlyNameOf(sender: Sender): string | null {
  const [first] = identitiesOf(sender);
  return first === undefined ? null : friendlyName(sender.project, first);
}

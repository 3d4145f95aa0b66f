import type { ReplyEmails, Sealed } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** Reason of an email or a push notification. */
export type EmailReason = "assigned" | "mentioned" | "sla_breached" | "needs_review" | "digest" | "reply";

/** What one email contains, for a worker that holds its lease. */
export interface ClaimedEmail {
  leaseId: string;
  /** The operator, a browser of one, or the ticket whose customer gets replies. */
  recipientId: string;
  /** How it is sent: to a browser of an operator as a push notification, to others as an email. */
  way: "email" | "web_push";
  /** The same in each attempt. */
  emailId: string;
  /** Number of attempts, this one included. */
  attempts: number;
  /** When the first reason came up. */
  createdAt: Date;
  reasons: { kind: EmailReason; source: string }[];
}

/** An operator who gets an email. */
export interface EmailOperator {
  email: string;
  name: string;
  /** As stored: `notificationSettingsSchema` adds the defaults. */
  notifications: unknown;
  isDisabled: boolean;
  /** True if the operator has a ticket open in the console. */
  isOnline: boolean;
}

/** A reason for an email to an operator, as its ticket is now. */
export interface TicketReason {
  kind: EmailReason;
  source: string;
  createdAt: Date;
  project: string;
  ticketId: string;
  subject: string;
  actor: string;
  /** Name of the operator who did it; null if it was none. */
  author: string | null;
  /** The note that mentions the recipient; null for other kinds. */
  note: string | null;
  /** The SLA target that was missed; null for other kinds. */
  target: string | null;
  /** True if there is no reason for the email any more. */
  isMoot: boolean;
}

/** The conversation whose replies an email contains, and its customer. */
export interface EmailConversation {
  /** The project that received the conversation. */
  project: ProjectId;
  projectName: string;
  /** Null: the project sends no replies by email any more. */
  replyEmails: ReplyEmails | null;
  /** True for spam, a blocked customer and a deleted project. */
  isClosed: boolean;
  /** Null until the customer of the first message was made. */
  customerId: string | null;
  email: string | null;
  /** True if a person has set `email`. */
  isEmailEdited: boolean;
  /** An address that is the customer's `userId`, which its channel vouches for. */
  provenEmail: string | null;
  language: string | null;
}

/** A reply that no browser of the customer has. */
export interface UnseenReply {
  id: string;
  seq: number;
  type: "message" | "attachment";
  text: string | null;
  markdown: boolean;
  filename: string | null;
}

/** Open work in a project. */
export interface DigestPart {
  project: string;
  needsReview: number;
  overdue: number;
  assigned: number;
}

/** Longer than an attempt may take, so that a lease expires only if its process ended or cannot reach the store. */
export const EMAIL_LEASE_MS = 120_000;

/** Days after which a reply is no longer sent by email. */
export const REPLY_MAX_DAYS = 3;

/** Number of the advisory locks of writers that count emails to an address. */
const ADDRESS_LOCK = 7_305_422;

const sql = statements("people/email-notifications", {
  /** Time for the operator to notice in the console, and for an assignment by mistake to be undone. */
  delaySeconds: 60,
  /** Drafts are often handled within minutes. */
  reviewDelaySeconds: 180,
  /** Push notifications are for urgent events; the console withdraws what the operator sees in it. */
  pushDelaySeconds: 10,
  leaseMs: EMAIL_LEASE_MS,
  batchMax: 200,
  goneSeconds: 45,
  keptDays: 30,
  replyMaxDays: REPLY_MAX_DAYS,
});

/**
 * Adds the notifications that follow from the events after a position. Called by the step that follows the events of
 * tickets, which may read an event more than once.
 */
export const insertForEvents = (tx: Db, settledId: number, { sendsEmails }: { sendsEmails: boolean }) =>
  sql.insertForEvents.exec(tx, { settledId, sendsEmails });

/** Adds the replies to customers that follow from the events after a position, as `insertForEvents`. */
export const insertReplies = (tx: Db, settledId: number) => sql.insertReplies.exec(tx, { settledId });

/**
 * Returns recipients with an email that is due and not claimed, and the time since which it is due, those that have
 * waited longest first.
 */
export const listDue = (db: Db, limit: number) => sql.listDue.all(db, { limit });

/** Claims the next email of a recipient under a lease of `EMAIL_LEASE_MS`; null if none is due. */
export async function claim(db: Db, recipientId: string): Promise<ClaimedEmail | null> {
  const leaseId = newId();
  const rows = await sql.claim.all<{
    kind: EmailReason;
    source: string;
    emailId: string;
    attempts: number;
    createdAt: Date;
    isPush: boolean;
  }>(db, { recipientId, leaseId, emailId: newId() });
  const [first] = rows;
  if (first === undefined) return null;
  return {
    leaseId,
    recipientId,
    way: first.isPush ? "web_push" : "email",
    emailId: first.emailId,
    attempts: Math.max(...rows.map(({ attempts }) => attempts)),
    createdAt: new Date(Math.min(...rows.map(({ createdAt }) => createdAt.getTime()))),
    reasons: rows.map(({ kind, source }) => ({ kind, source })),
  };
}

/** Returns the operator with this id, or null if there is none. */
export const findOperator = (db: Db, id: string) => sql.findOperator.one<EmailOperator>(db, { id });

/** Returns the reasons of a claimed email but digests. One whose ticket was erased is missing. */
export const readClaimed = (db: Db, { recipientId, leaseId }: ClaimedEmail) =>
  sql.readClaimed.all<TicketReason>(db, { recipientId, leaseId });

/** Returns the conversation of a claimed email; null if it was erased. */
export const findConversation = (db: Db, { recipientId }: ClaimedEmail) =>
  sql.findConversation.one<EmailConversation>(db, { ticketId: recipientId });

/** Returns the replies of a claimed email that no browser has fetched or shown, oldest first, but none of before `REPLY_MAX_DAYS`. */
export const readUnseen = (db: Db, { recipientId, leaseId }: ClaimedEmail) =>
  sql.readUnseen.all<UnseenReply>(db, { recipientId, leaseId });

/** Returns what the customer wrote last before a reply, and the URL of the page it was written on. */
export const findQuestion = (db: Db, { recipientId }: ClaimedEmail, seq: number) =>
  sql.findQuestion.one<{ text: string; pageUrl: string | null }>(db, { ticketId: recipientId, seq });

/** True if the customer has unsubscribed, or the person with the address, as this or another customer of the project. */
export const isUnsubscribed = (db: Db, project: ProjectId, customer: { customerId: string; addressHash: string }) =>
  sql.isUnsubscribed.any(db, { project, ...customer });

/** Records that an address gets no emails of a project, whichever customer has it. Safe to repeat. */
export const unsubscribe = (db: Db, project: ProjectId, addressHash: string) =>
  sql.unsubscribe.exec(db, { project, addressHash });

/** Lets addresses get emails of a project again. */
export const resubscribe = (db: Db, project: ProjectId, addressHashes: readonly string[]) =>
  sql.resubscribe.exec(db, { project, addressHashes });

/**
 * Counts a claimed email to its address. False if the address gets `maxPerDay` emails in 24 hours already, or the lease was
 * lost.
 */
export const reserveAddress = (
  db: Db,
  { recipientId, leaseId, emailId }: ClaimedEmail,
  { addressHash, maxPerDay }: { addressHash: string; maxPerDay: number },
): Promise<boolean> =>
  db.transaction(async (tx) => {
    await sql.lockAddress.exec(tx, { addressLock: ADDRESS_LOCK, addressHash });
    return sql.reserveAddress.any(tx, { recipientId, leaseId, emailId, addressHash, maxPerDay });
  });

/** Returns the open work of an operator by project; projects without any may be missing. */
export const readDigest = (db: Db, operatorId: string) => sql.readDigest.all<DigestPart>(db, { operatorId });

/** Returns the operators who want a digest, with their settings as stored. */
export const listDigests = (db: Db) => sql.listDigests.all(db);

/** Adds the digest of a day (`2026-11-29`), unless the operator has it. True if it is new. */
export const insertDigest = (db: Db, operatorId: string, day: string) => sql.insertDigest.any(db, { operatorId, day });

const keyOf = ({ kind, source }: { kind: EmailReason; source: string }) => `${kind} ${source}`;

/** Records that an email was sent with these reasons; its others are withdrawn. Does nothing if the lease was lost. */
export const finishSent = (
  db: Db,
  { recipientId, leaseId }: ClaimedEmail,
  sent: readonly { kind: EmailReason; source: string }[],
): Promise<void> =>
  sql.finish.exec(db, { recipientId, leaseId, outcome: "sent", sources: sent.map(keyOf), failure: null });

/** Records that an email has failed. Does nothing if the lease was lost. */
export const finishFailed = (db: Db, { recipientId, leaseId }: ClaimedEmail, failure: string): Promise<void> =>
  sql.finish.exec(db, { recipientId, leaseId, outcome: "failed", sources: null, failure });

/** Releases the lease until the next attempt. Does nothing if the lease was lost. */
export const retryLater = (
  db: Db,
  { recipientId, leaseId }: ClaimedEmail,
  { delayMs, counts, failure }: { delayMs: number; counts: boolean; failure: string | null },
): Promise<void> => sql.retryLater.exec(db, { recipientId, leaseId, delayMs, counts, failure });

/** Deletes notifications that ended more than 30 days ago. */
export const purge = (db: Db) => sql.purge.exec(db);

/** Returns how many notifications have failed and are retried, since when, and why. */
export async function readState(db: Db): Promise<{ failing: number; since: Date | null; failure: string | null }> {
  const row = await sql.readState.one<{ failing: number; since: Date | null; failure: string | null }>(db);
  return row ?? { failing: 0, since: null, failure: null };
}

/** Data of a browser's subscription, with which it can be notified (Push API). */
export interface PushSubscriptionKeys {
  endpoint: string;
  /** Public key, base64url. */
  p256dh: string;
  /** Authentication secret, base64url. */
  auth: string;
}

/** A browser that gets notifications, and its operator. */
export interface PushDevice extends PushSubscriptionKeys {
  /** As stored: `notificationSettingsSchema` adds the defaults. */
  notifications: unknown;
  isDisabled: boolean;
  /** True if the operator has a ticket open in the console. */
  isOnline: boolean;
}

/** Keys of the installation for push services (RFC 8292). */
export interface StoredPushKeys {
  /** Base64url. */
  publicKey: string;
  privateKey: Sealed;
}

/** Browsers of an operator. */
const MAX_DEVICES = 20;

const pushSql = statements("people/push-subscriptions", { maxCount: MAX_DEVICES, goneSeconds: 45 });

/** Adds a browser of an operator, or takes it over from another one. False if the operator has 20 others. */
const putDevice = (db: Db, operatorId: string, keys: PushSubscriptionKeys): Promise<boolean> =>
  pushSql.put.any(db, { id: newId(), operatorId, ...keys });

/** Removes a browser of an operator. */
const removeDeviceOf = (db: Db, operatorId: string, endpoint: string): Promise<void> =>
  pushSql.removeOf.exec(db, { operatorId, endpoint });

/** True if a browser gets the notifications of this operator. */
const isDeviceOf = (db: Db, operatorId: string, endpoint: string): Promise<boolean> =>
  pushSql.isOf.any(db, { operatorId, endpoint });

/** Removes a browser whose subscription has ended. */
const removeDevice = (db: Db, id: string): Promise<void> => pushSql.remove.exec(db, { id });

/** Returns a browser with its operator; null if there is none. */
const findDevice = (db: Db, id: string) => pushSql.findDevice.one<PushDevice>(db, { id });

/** Returns the keys of the installation for push services: the stored ones, or those of `make`, which it stores. */
async function ensureKeys(db: Db, make: () => StoredPushKeys): Promise<StoredPushKeys> {
  const read = async () => (await pushSql.readKeys.one<{ keys: StoredPushKeys }>(db))?.keys;
  const stored = await read();
  if (stored !== undefined) return stored;
  await pushSql.setKeys.run(db, { keys: JSON.stringify(make()) });
  const keys = await read();
  if (keys === undefined) throw new Error("the keys for push services were not found after they were stored");
  return keys;
}

/** Functions of `store.pushSubscriptions`. */
export const pushSubscriptions = {
  put: putDevice,
  removeOf: removeDeviceOf,
  isOf: isDeviceOf,
  remove: removeDevice,
  findDevice,
  ensureKeys,
};

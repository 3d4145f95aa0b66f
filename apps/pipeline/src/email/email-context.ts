import { nextOpening } from "@svc/channel-manager";
import { WEEKDAYS } from "@svc/contracts";
import type { NotificationSettings } from "@svc/contracts";
import { EmailError } from "@svc/outbound";
import type { Email, Mailer, PushMessage, PushTarget } from "@svc/outbound";
import type { Resources } from "@svc/runtime";
import type { ClaimedEmail } from "@svc/store";

const CONTROL = /[^\P{C}\n\u200c\u200d]/gu;

/** Returns a text of other people in at most `maxChars` code points, without control and bidirectional characters. */
export function cleanText(text: string, maxChars: number): string {
  const clean = text
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll(CONTROL, "")
    .trim();
  const chars = Array.from(clean);
  return chars.length <= maxChars ? clean : `${chars.slice(0, maxChars - 1).join("")}…`;
}

/** Returns a text of other people as a quotation, so that none of its lines looks like a line of the email itself. */
export const quoteText = (text: string, maxChars: number): string =>
  cleanText(text, maxChars).split("\n").map((line) => `> ${line}`).join("\n"); // prettier-ignore

/** Replaces the placeholders of a text by values in one pass, so that placeholders in values are not replaced. */
export const fillText = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));

type Times = Pick<NotificationSettings, "quietHours" | "timeZone">;

/** The periods of a day that are not quiet. */
function loudPeriods([from, to]: [string, string]): [string, string][] {
  if (from > to) return [[to, from]];
  const periods: [string, string][] = [
    ["00:00", from],
    [to, "24:00"],
  ];
  return periods.filter(([start, end]) => start < end);
}

/** Returns when an email may be sent: `at` itself, or the end of the quiet hours that it is in. */
export function endOfQuietHours({ quietHours, timeZone }: Times, at: Date): Date {
  if (quietHours === null) return at;
  const periods = loudPeriods(quietHours);
  const week = Object.fromEntries(WEEKDAYS.map((day) => [day, periods]));
  return nextOpening({ timeZone, week, holidays: [] }, at) ?? at;
}

/** Maximum delay of a digest, in minutes; a later one is skipped. */
const DIGEST_LATE_MINUTES = 180;

const DAY_MINUTES = 1_440;

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** Returns the day (`2026-11-29`) whose digest is due at a moment; null if none is. */
export function dayOfDueDigest(
  { digest, digestAt, timeZone }: Pick<NotificationSettings, "digest" | "digestAt" | "timeZone">,
  at: Date,
): string | null {
  if (!digest) return null;
  // The form of Swedish dates is that of ISO 8601.
  const local = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(at);
  const [day = "", time = ""] = local.split(" ");
  const minutes = minutesOf(time) - minutesOf(digestAt);
  // After midnight, the one of the evening before may still be due.
  const daysAgo = minutes < 0 ? 1 : 0;
  if (minutes + daysAgo * DAY_MINUTES >= DIGEST_LATE_MINUTES) return null;
  return new Date(Date.parse(day) - daysAgo * DAY_MINUTES * 60_000).toISOString().slice(0, 10);
}

/**
 * Delay of a notification while the operator has the console open, which shows the events, and the maximum of all such
 * delays.
 */
const ONLINE_WAIT_MS = 60_000;
const ONLINE_WAIT_MAX_MS = 900_000;

/** Returns how long a notification waits, in milliseconds: until the quiet hours end, or while the console is open. */
export function waitMsOf(
  settings: Pick<NotificationSettings, "quietHours" | "timeZone">,
  { isOnline, since }: { isOnline: boolean; since: Date },
): number {
  const now = new Date();
  const quietMs = endOfQuietHours(settings, now).getTime() - now.getTime();
  if (quietMs > 0) return quietMs;
  return isOnline && now.getTime() - since.getTime() < ONLINE_WAIT_MAX_MS ? ONLINE_WAIT_MS : 0;
}

/** Dependencies of sending emails. */
export type EmailContext = Pick<Resources, "store" | "queues" | "log"> & {
  /** Null if no mail server is configured: emails wait until one is. */
  mailer: Mailer | null;
  /** Hands a push notification to the push service of a browser. Throws PushError. */
  push: (notification: { target: PushTarget; message: PushMessage }) => Promise<void>;
  config: Pick<Resources["config"], "consoleUrl" | "widgetUrl">;
};

/** Result of a claimed email. */
export type EmailOutcome = { sent: ClaimedEmail["reasons"] } | { waitMs: number };

/** Outcome of a claimed email of which no reason is left: nothing is sent. */
export const NOTHING_SENT: EmailOutcome = { sent: [] };

/** Sends an email. Throws EmailError. */
export async function sendEmail({ mailer }: Pick<EmailContext, "mailer">, email: Email): Promise<void> {
  if (mailer === null) throw new EmailError("no mail server is configured", { isFinal: false });
  await mailer.send(email);
}

import { notificationSettingsSchema, safeLine } from "@svc/contracts";
import type { NotificationSettings } from "@svc/contracts";
import { PushError } from "@svc/outbound";
import type { ClaimedEmail, TicketReason } from "@svc/store";
import { fillText, NOTHING_SENT, waitMsOf } from "./email-context.ts";
import type { EmailContext, EmailOutcome } from "./email-context.ts";
import texts from "./texts.json" with { type: "json" };

const MAX_CHARS = { subject: 120, name: 80 };
/** An operator who is offline for longer reads it in the console. */
const TTL_SECONDS = 86_400;

/** Content of a push notification, which the service worker of the console shows. */
interface PushContent {
  title: string;
  body: string;
  /** Path within the console. */
  path: string;
  /** A later notification with the same tag replaces it. */
  tag: string;
}

type PushKind = Exclude<keyof (typeof texts)["en"]["push"], "several">;
const isPushKind = (kind: string): kind is PushKind => kind !== "several" && Object.hasOwn(texts.en.push, kind);

/**
 * Writes a push notification about what has happened in tickets. It shows no text of customers and colleagues unless the
 * operator wants that: it may be read on a locked screen.
 */
function writePush(
  reasons: readonly TicketReason[],
  { language, push }: Pick<NotificationSettings, "language" | "push">,
): PushContent | null {
  const words = texts[language];
  const last = reasons.at(-1);
  if (last === undefined || !isPushKind(last.kind)) return null;
  // A push service rejects a payload of more than 4 KB.
  const projects = safeLine([...new Set(reasons.map(({ project }) => project))].join(", "), MAX_CHARS.subject);
  if (new Set(reasons.map(({ ticketId }) => ticketId)).size > 1) {
    const title = fillText(words.push.several, { count: reasons.length });
    return { title, body: projects, path: "/", tag: "several" };
  }
  const lines = [safeLine(last.author ?? "", MAX_CHARS.name), safeLine(last.subject, MAX_CHARS.subject)];
  const details = push.showsSubject
    ? lines
        .filter((line) => line !== "")
        .map((line) => `\n${line}`)
        .join("")
    : "";
  return {
    title: words.push[last.kind],
    body: `${last.project}${details}`,
    path: `/${encodeURIComponent(last.project)}/inbox/all/${last.ticketId}`,
    tag: last.ticketId,
  };
}

/**
 * Sends a push notification of an operator to one of the operator's browsers; a browser whose subscription has ended is
 * removed.
 */
export async function sendToDevice({ store, push }: EmailContext, claim: ClaimedEmail): Promise<EmailOutcome> {
  const device = await store.pushSubscriptions.findDevice(claim.recipientId);
  if (device === null || device.isDisabled) return NOTHING_SENT;
  const reasons = (await store.emailNotifications.readClaimed(claim)).filter(({ isMoot }) => !isMoot);
  const settings = notificationSettingsSchema.parse(device.notifications);
  const content = writePush(reasons, settings);
  if (content === null) return NOTHING_SENT;
  const waitMs = waitMsOf(settings, { isOnline: device.isOnline, since: claim.createdAt });
  if (waitMs > 0) return { waitMs };
  const topic = content.tag.replaceAll("-", "").slice(0, 32);
  try {
    await push({ target: device, message: { payload: JSON.stringify(content), ttlSeconds: TTL_SECONDS, topic } });
  } catch (error) {
    if (!(error instanceof PushError) || !error.isGone) throw error;
    await store.pushSubscriptions.remove(claim.recipientId);
    return NOTHING_SENT;
  }
  return { sent: reasons.map(({ kind, source }) => ({ kind, source })) };
}

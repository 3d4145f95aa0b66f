import { notificationSettingsSchema, safeLine } from "@svc/contracts";
import type { EmailJob, NotificationSettings } from "@svc/contracts";
import { EmailError, PushError } from "@svc/outbound";
import { announceWork } from "@svc/queue";
import { EMAIL_LEASE_MS } from "@svc/store";
import type { ClaimedEmail, DigestPart, EmailOperator, TicketReason } from "@svc/store";
import { errorMessage } from "@svc/primitives";
import { count } from "@svc/telemetry";
import { createLeaseManager, defineWork, retryUntilStored } from "@svc/work";
import type { Failure, HeldLease, Work } from "@svc/work";
import type { Email } from "@svc/outbound";
import { dayOfDueDigest, fillText, NOTHING_SENT, quoteText, sendEmail, waitMsOf } from "./email-context.ts";
import type { EmailContext, EmailOutcome } from "./email-context.ts";
import { sendReplies } from "./send-replies.ts";
import { sendToDevice } from "./send-to-device.ts";
import texts from "./texts.json" with { type: "json" };

type Texts = (typeof texts)["en"];
type Written = Pick<Email, "subject" | "text">;

/** Maximum lengths of other people's texts in an email, in code points. */
const MAX_CHARS = { subject: 120, name: 80, note: 2_000 };
/** Maximum number of tickets listed in an email; further ones are counted. */
const MAX_TICKETS = 20;

/** The key of a text; digests and replies have texts of their own. */
type TicketKind = keyof Texts["subjects"];
const isTicketKind = (kind: string): kind is TicketKind => Object.hasOwn(texts.en.subjects, kind);

/** True if the ticket was assigned in turn by the service, or by a caller who is not an operator. */
const isAssignedWithoutAuthor = ({ kind, author }: Pick<TicketReason, "kind" | "author">) =>
  kind === "assigned" && author === null;

interface WriteOptions {
  settings: Pick<NotificationSettings, "language" | "timeZone">;
  /** Public URL of the console. */
  consoleUrl: string;
}

function valuesOf(reason: TicketReason, language: Texts): Record<string, string> {
  const { targets } = language;
  const target = Object.entries(targets).find(([name]) => name === reason.target)?.[1] ?? targets.resolution;
  return {
    project: reason.project,
    subject: safeLine(reason.subject, MAX_CHARS.subject) || language.noSubject,
    author: safeLine(reason.author ?? "", MAX_CHARS.name) || language.someone,
    target,
  };
}

/**
 * Writes the email to an operator about what has happened in tickets, as plain text. Texts of customers and colleagues
 * cannot look like lines of the email, and are truncated.
 */
function writeOperatorEmail(
  reasons: readonly TicketReason[],
  digest: { day: string; parts: readonly DigestPart[] } | null,
  { settings, consoleUrl }: WriteOptions,
): Written {
  const language = texts[settings.language];
  const tickets = reasons.flatMap((reason) => (isTicketKind(reason.kind) ? [{ ...reason, kind: reason.kind }] : []));
  const paragraphs = tickets.slice(0, MAX_TICKETS).map((reason) => {
    const values = valuesOf(reason, language);
    return [
      fillText("[{project}] {subject}", values),
      fillText(language.lines[isAssignedWithoutAuthor(reason) ? "assignedWithoutAuthor" : reason.kind], values),
      ...(reason.note === null ? [] : [quoteText(reason.note, MAX_CHARS.note)]),
      `${consoleUrl}/${encodeURIComponent(reason.project)}/inbox/all/${reason.ticketId}`,
    ].join("\n");
  });
  if (tickets.length > MAX_TICKETS) paragraphs.push(fillText(language.more, { count: tickets.length - MAX_TICKETS }));
  const work = (digest?.parts ?? []).map((part) => fillText(language.digestLine, { ...part }));
  const day = digest === null ? "" : fillText(language.digestSubject, { day: digest.day });
  if (work.length > 0) paragraphs.push([day, ...work, `${consoleUrl}/`].join("\n"));
  const [first] = tickets;
  const subject = first === undefined ? day : fillText(language.subjects[first.kind], valuesOf(first, language));
  const count = tickets.length + (work.length > 0 ? 1 : 0);
  return {
    subject: count > 1 ? fillText(language.severalSubject, { count, subject }) : subject,
    text: [...paragraphs, `${language.footer}\n${consoleUrl}/`].join("\n\n"),
  };
}

/** Emails that one replica can always send at a time, even if all slots of push notifications are in use. */
const EMAIL_CONCURRENCY = 3;
/** Push notifications that one replica sends at a time: slow push services leave the other slots to emails. */
const PUSH_CONCURRENCY = 6;
/** Delay of a push notification if all slots of push notifications are in use. */
const PUSH_WAIT_MS = 1_000;
/** Delays after the first, second, … attempt. */
const RETRY_DELAYS_MS = [30_000, 120_000, 600_000, 1_800_000, 3_600_000];
/** Attempts over three days, which is longer than a mail server is down. */
const MAX_ATTEMPTS = 75;
/** The deadline covers the longest attempt, which the timeouts of the mailer limit. */
const SHUTDOWN = { abortAfterMs: 2_000, deadlineMs: 30_000 };
const SWEEP_LIMIT = 50;
const DIGEST_MS = 60_000;
const PURGE_MS = 3_600_000;

interface EmailContent {
  reasons: TicketReason[];
  digest: { day: string; parts: DigestPart[] } | null;
}

/** Reads the current content of an email to an operator; null if no reason applies any more. */
async function readContent({ store }: EmailContext, claim: ClaimedEmail): Promise<EmailContent | null> {
  const reasons = (await store.emailNotifications.readClaimed(claim)).filter(({ isMoot }) => !isMoot);
  const day = claim.reasons.find(({ kind }) => kind === "digest")?.source;
  const parts = day === undefined ? [] : await store.emailNotifications.readDigest(claim.recipientId);
  const open = parts.filter(({ needsReview, overdue, assigned }) => needsReview + overdue + assigned > 0);
  const digest = day === undefined || open.length === 0 ? null : { day, parts: open };
  return reasons.length === 0 && digest === null ? null : { reasons, digest };
}

/** Sends what was claimed to its recipient: a customer, an operator, or a browser of one. */
async function sendTo(context: EmailContext, claim: ClaimedEmail, pushes: { count: number }): Promise<EmailOutcome> {
  if (claim.way === "email") {
    if (claim.reasons.some(({ kind }) => kind === "reply")) return sendReplies(context, claim);
    const operator = await context.store.emailNotifications.findOperator(claim.recipientId);
    return operator === null ? NOTHING_SENT : sendToOperator(context, claim, operator);
  }
  if (pushes.count >= PUSH_CONCURRENCY) return { waitMs: PUSH_WAIT_MS };
  pushes.count++;
  try {
    return await sendToDevice(context, claim);
  } finally {
    pushes.count--;
  }
}

async function sendToOperator(
  context: EmailContext,
  claim: ClaimedEmail,
  operator: EmailOperator,
): Promise<EmailOutcome> {
  const content = operator.isDisabled ? null : await readContent(context, claim);
  if (content === null) return NOTHING_SENT;
  const { reasons, digest } = content;
  const settings = notificationSettingsSchema.parse(operator.notifications);
  const waitMs = waitMsOf(settings, { isOnline: operator.isOnline, since: claim.createdAt });
  if (waitMs > 0) return { waitMs };
  const { consoleUrl } = context.config;
  const written = writeOperatorEmail(reasons, digest, { settings, consoleUrl });
  await sendEmail(context, { id: claim.emailId, to: operator.email, ...written });
  const digests = digest === null ? [] : claim.reasons.filter(({ kind }) => kind === "digest");
  return { sent: [...reasons.map(({ kind, source }) => ({ kind, source })), ...digests] };
}

function judge({ log }: EmailContext, error: unknown, claim: ClaimedEmail): Failure {
  const isKnown = error instanceof EmailError || error instanceof PushError;
  if (!isKnown) log.error({ error, emailId: claim.emailId }, "writing an email failed unexpectedly");
  return {
    counts: true,
    reason: isKnown ? error.message : `internal error: ${errorMessage(error)}`,
    isFinal: isKnown && error.isFinal,
    attempts: claim.attempts,
  };
}

/** Counts an attempt that failed, with the outcomes of callbacks. */
const countFailure = ({ way }: ClaimedEmail, outcome: "later" | "dead") =>
  count("svc_deliveries_total", { way, outcome });

/**
 * Defines the work of sending emails: each contains all that is due for its recipient. Notifications without a reason
 * are withdrawn. Each reason is in one email; the email is sent again, under the same `Message-ID`, only if the server
 * has not accepted it, or the connection or this process ended before it was known.
 */
// oxlint-disable-next-line max-lines-per-function -- One definition of work: data and its short functions.
export function sendEmails(
  context: EmailContext,
  { delaysMs = RETRY_DELAYS_MS }: { delaysMs?: readonly number[] } = {},
): Work<string> {
  const { store, queues, log } = context;
  const { emailNotifications: emails } = store;
  /** Push notifications that are being sent. */
  const pushes = { count: 0 };

  async function run(claim: ClaimedEmail, { signal }: HeldLease): Promise<boolean> {
    const outcome = await sendTo(context, claim, pushes);
    if ("waitMs" in outcome) {
      await emails.retryLater(claim, { delayMs: outcome.waitMs, counts: false, failure: null });
      return false;
    }
    // Otherwise the email would be sent again.
    const finish = () => emails.finishSent(claim, outcome.sent);
    await retryUntilStored(log, finish, { what: "recording a sent email", signal });
    const withdrawn = claim.reasons.length - outcome.sent.length;
    if (outcome.sent.length > 0) count("svc_deliveries_total", { way: claim.way, outcome: "delivered" });
    log.debug({ emailId: claim.emailId, sent: outcome.sent.length, withdrawn }, "email handled");
    return true;
  }

  async function announceDue(): Promise<void> {
    const due = await emails.listDue(SWEEP_LIMIT);
    // The same job until the email is claimed, however many sweeps find it due while the mail server is slow.
    const jobs = due.map(({ recipientId, dueAt }) => ({ recipientId, mark: String(dueAt.getTime()) }));
    await announceWork(queues, "emails", jobs);
  }

  async function addDigests(): Promise<void> {
    if (context.mailer === null) return;
    const now = new Date();
    for (const { id, notifications } of await emails.listDigests()) {
      const day = dayOfDueDigest(notificationSettingsSchema.parse(notifications), now);
      if (day !== null) await emails.insertDigest(id, day);
    }
  }

  return defineWork(
    { queues, log },
    {
      name: "emails",
      consumes: [{ queue: "emails", concurrency: EMAIL_CONCURRENCY + PUSH_CONCURRENCY }],
      targets: ({ recipientId }: EmailJob) => [recipientId],
      leases: createLeaseManager<ClaimedEmail>(log, { name: "emails", ms: EMAIL_LEASE_MS, renewMs: EMAIL_LEASE_MS }),
      async claim(recipientId: string, { handle }) {
        const claimed = await emails.claim(recipientId);
        return claimed === null ? false : handle(claimed);
      },
      run,
      failures: {
        maxAttempts: MAX_ATTEMPTS,
        retry: delaysMs,
        judge: (error, claim) => judge(context, error, claim),
        async retryLater(claim, { delayMs, reason }) {
          countFailure(claim, "later");
          // An attempt that a shutdown interrupts counts too: the server may have the email, and the next attempt needs its
          // Message-ID.
          await emails.retryLater(claim, { delayMs, counts: true, failure: reason });
          log.warn({ emailId: claim.emailId, attempt: claim.attempts, reason }, "sending an email failed; retrying");
        },
        async giveUp(claim, reason) {
          countFailure(claim, "dead");
          await emails.finishFailed(claim, reason);
          log.warn({ emailId: claim.emailId, attempts: claim.attempts, reason }, "an email could not be sent");
          return true;
        },
        facts: ({ emailId }) => ({ emailId }),
      },
      due: { isDue: async () => (await store.dueWork.find()).emails, run: announceDue },
      sweeps: [
        { everyMs: DIGEST_MS, run: addDigests },
        { everyMs: PURGE_MS, run: () => emails.purge() },
      ],
      shutdown: SHUTDOWN,
    },
  );
}

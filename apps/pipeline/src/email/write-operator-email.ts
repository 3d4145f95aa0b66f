import { safeLine } from "@svc/contracts";
import type { NotificationSettings } from "@svc/contracts";
import type { Email } from "@svc/outbound";
import type { DigestPart, TicketReason } from "@svc/store";
import { fillText, quoteText } from "./clean-text.ts";
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
export function writeOperatorEmail(
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

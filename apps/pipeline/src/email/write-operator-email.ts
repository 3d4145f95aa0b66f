import { safeLine } from "@svc/contracts";
import type { NotificationSettings } from "@svc/contracts";
import type { Email } from "@svc/outbound";
import type { DigestPart, TicketReason } from "@svc/store";
import texts from "./texts.json" with { type: "json" };

type Texts = (typeof texts)["en"];
type Written = Pick<Email, "subject" | "text">;

/** Characters of texts of other people in an email. */
const MAX_CHARS = { subject: 120, name: 80, note: 2_000 };
/** Tickets that one email names; the others are counted. */
const MAX_TICKETS = 20;

/** Puts values in the places of a text, all at once: no value is read as a place. */
const fill = (text: string, values: Readonly<Record<string, string | number>>) =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));

const CONTROL = /[^\P{C}\n]/gu;

/** A text of several lines, quoted, without control and bidirectional characters. */
function quoted(text: string): string {
  const clean = text
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll(CONTROL, "")
    .trim();
  const cut = Array.from(clean).slice(0, MAX_CHARS.note).join("");
  return cut.split("\n").map((line) => `> ${line}`).join("\n"); // prettier-ignore
}

/** The key of a text; digests and replies have texts of their own. */
type TicketKind = keyof Texts["subjects"];
const isTicketKind = (kind: string): kind is TicketKind => Object.hasOwn(texts.en.subjects, kind);

/** True if the service has assigned the ticket in turn, or somebody who is no operator. */
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
 * Writes the email to an operator about what has happened in tickets, as plain text. What customers and colleagues have
 * written stays within its lines and is bounded.
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
      fill("[{project}] {subject}", values),
      fill(language.lines[isAssignedWithoutAuthor(reason) ? "assignedWithoutAuthor" : reason.kind], values),
      ...(reason.note === null ? [] : [quoted(reason.note)]),
      `${consoleUrl}/${encodeURIComponent(reason.project)}/inbox/all/${reason.ticketId}`,
    ].join("\n");
  });
  if (tickets.length > MAX_TICKETS) paragraphs.push(fill(language.more, { count: tickets.length - MAX_TICKETS }));
  const work = (digest?.parts ?? []).map((part) => fill(language.digestLine, { ...part }));
  const day = digest === null ? "" : fill(language.digestSubject, { day: digest.day });
  if (work.length > 0) paragraphs.push([day, ...work, `${consoleUrl}/`].join("\n"));
  const [first] = tickets;
  const subject = first === undefined ? day : fill(language.subjects[first.kind], valuesOf(first, language));
  const count = tickets.length + (work.length > 0 ? 1 : 0);
  return {
    subject: count > 1 ? fill(language.severalSubject, { count, subject }) : subject,
    text: [...paragraphs, `${language.footer}\n${consoleUrl}/`].join("\n\n"),
  };
}

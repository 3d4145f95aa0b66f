import type { Customer, TicketItem } from "@svc/contracts";
import { isWaiting } from "../api/tickets.ts";
import type { Texts } from "../i18n/texts.ts";

type T = Texts["t"];

/** Returns true for a submitted issue: work for operators, without a customer to reply to. */
export const isTask = ({ origin }: Pick<TicketItem, "origin">) => origin !== null;

/** The fields of a ticket from which its customer is named. */
type NamedTicket = Pick<TicketItem, "customer" | "userId" | "origin" | "channelId" | "chatId" | "id" | "channel_meta">;

/** The chat ID that the service generates for a caller who names none. */
const GENERATED_CHAT = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns the label of a conversation whose customer is unknown: of the HTTP API, the chat ID that its caller chose. */
function labelOf({ channelId, channel_meta: meta, chatId, id }: NamedTicket, t: T): string {
  if (channelId === "widget") return t("ticket.visitor", { code: id.slice(-4).toUpperCase() });
  if (meta["origin"] === "test" && chatId.startsWith("test:")) return t("ticket.test");
  return channelId !== "api" || GENERATED_CHAT.test(chatId) ? t("ticket.customer") : chatId;
}

/**
 * Returns the display name of a ticket's customer: name, email address, user id or friendly name, whichever is known
 * first; otherwise a label of the conversation. For a task it is the source.
 */
export function customerName(ticket: NamedTicket, t: T): string {
  const { channel_meta: meta, customer, userId } = ticket;
  if (isTask(ticket)) return typeof meta["source"] === "string" ? meta["source"] : t("task.title");
  return customer?.name ?? customer?.email ?? userId ?? customer?.alias ?? labelOf(ticket, t);
}

/**
 * Returns the last message of a ticket in a line, with its author; null if it would only repeat the subject. `nameOf`
 * returns the name of another operator.
 */
export function snippetOf(
  { lastMessage, subject }: Pick<TicketItem, "lastMessage" | "subject">,
  { me, nameOf, t }: { me: string; nameOf: (actor: string) => string; t: T },
): string | null {
  if (lastMessage === null || lastMessage === undefined) return null;
  const { actor, author, text } = lastMessage;
  if (author === "agent") return t("ticket.lastBy", { name: t("author.agent"), text });
  if (author === "operator") {
    const name = actor === me ? t("ticket.you") : actor === null ? t("author.operator") : nameOf(actor);
    return t("ticket.lastBy", { name, text });
  }
  // The subject is the first line of the first message, and a task's title precedes its description.
  const begin = text.endsWith("…") ? text.slice(0, -1) : text;
  if (subject.startsWith(begin)) return null;
  const rest = text.startsWith(`${subject} `) ? text.slice(subject.length).trim() : text;
  return rest === subject || rest === "…" ? null : rest;
}

/**
 * Returns the description in a task's message, without the title, which is the ticket's subject. A message with another
 * title is returned completely, unless both parts are equal.
 */
export function taskText(text: string, subject: string): string {
  const at = text.indexOf("\n\n");
  if (at === -1) return text;
  const title = text.slice(0, at).trim();
  const description = text.slice(at).trim();
  return title === description || (subject !== "" && title.startsWith(subject)) ? description : text;
}

/** Returns the assignee of a task as given by its sender; null if there is none. */
export const taskPerson = ({ channel_meta: meta }: Pick<TicketItem, "channel_meta">): string | null =>
  typeof meta["person"] === "string" ? meta["person"] : null;

/**
 * Returns the due date of a task: noon of that day in the reader's time zone, as a time without a zone, so that it is
 * the same day everywhere. Null if there is none.
 */
export function taskDue({ channel_meta: meta }: Pick<TicketItem, "channel_meta">): string | null {
  const { dueDate } = meta;
  if (typeof dueDate !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(dueDate)) return null;
  const noon = `${dueDate}T12:00:00`;
  return Number.isNaN(Date.parse(noon)) ? null : noon;
}

/** Returns true from the day after the due date of a task, while it is open. */
export function isOverdue(ticket: Pick<TicketItem, "channel_meta" | "status">, nowMs: number): boolean {
  const due = taskDue(ticket);
  const isClosed = ticket.status === "resolved" || ticket.status === "spam";
  return due !== null && !isClosed && new Date(nowMs).setHours(0, 0, 0, 0) > Date.parse(due);
}

/** Names of task fields in `channel_meta`. */
const TASK_FACTS: readonly string[] = ["origin", "severity", "source", "person", "dueDate"];

/**
 * Returns the entries of `channel_meta` that are not shown as the customer's name, address and user id, or as a task's
 * fields.
 */
export function otherMeta({
  channel_meta: meta,
  customer,
  origin,
  userId,
}: Pick<TicketItem, "channel_meta" | "customer" | "origin" | "userId">): [name: string, value: unknown][] {
  const isShown = (name: string, value: unknown) =>
    customer !== null && (name === "name" || name === "email") && value === customer[name satisfies keyof Customer];
  const isPerson = (value: unknown) =>
    typeof value === "object" && value !== null && Object.entries(value).every(([name, part]) => isShown(name, part));
  const ofTask = origin === null ? [] : TASK_FACTS;
  return Object.entries(meta).filter(
    ([name, value]) =>
      !ofTask.includes(name) &&
      // Links a visitor's later conversations; not useful for operators.
      name !== "firstChatId" &&
      !(name === "userId" && value === userId) &&
      !isShown(name, value) &&
      !(["contact", "customer", "user"].includes(name) && isPerson(value)),
  );
}

/**
 * Returns the time of the oldest message that waits for an operator; null if none does, or if SLA targets give the
 * ticket a deadline.
 */
export const waitingSince = (
  ticket: Pick<TicketItem, "deadline" | "origin" | "snooze" | "stage" | "waitingSince">,
): string | null =>
  isWaiting(ticket) && ticket.deadline === null && ticket.snooze === null ? (ticket.waitingSince ?? null) : null;

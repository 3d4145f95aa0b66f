import type { TicketItem } from "@svc/contracts";
import { renderAge } from "../render-age.ts";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";

const SUBJECT_CHARS = 100;
const NAME_CHARS = 24;
const PERSON_CHARS = 40;

/** Tickets as a table, each with how long ago something happened to it. */
export function renderTickets(tickets: readonly TicketItem[], { paint, width }: Terminal, now: number): string {
  const { dim, red, yellow } = paint;
  const rows = tickets.map((ticket) => {
    const { id, status, stage, assignee, updatedAt, subject, channelId, chatId, priority, tags, customer } = ticket;
    const stages = { review: yellow(stage), failed: red(stage) } as const;
    const person = customer?.name ?? customer?.email ?? null;
    const remarks = [
      ...(ticket.origin === null ? [] : ["task"]),
      ...(person === null ? [] : [safeLine(person, PERSON_CHARS)]),
      `${channelId} ${safeLine(chatId, NAME_CHARS)}`,
      ...(priority === "normal" ? [] : [priority]),
      ...tags.map((tag) => `#${safeLine(tag, NAME_CHARS)}`),
    ];
    return [
      id,
      `${status}\n${stage === "review" || stage === "failed" ? stages[stage] : stage}`,
      assignee === null ? "-" : safeLine(assignee, NAME_CHARS),
      renderAge(Math.max(0, now - Date.parse(updatedAt))),
      `${safeLine(subject, SUBJECT_CHARS)}\n${dim(remarks.join(", "))}`,
    ];
  });
  return renderTable(["TICKET", "STATE", "ASSIGNEE", "UPDATED", "SUBJECT AND CHAT"], rows, width);
}

import { CHANNELS, customerOf, safeLine, withoutBidiControls } from "@svc/contracts";
import type { MessageRecord, OlderThan, ReplyRecord, Store, TicketRecord } from "@svc/store";
import type { Principal } from "@svc/auth";
import { operation } from "./operation.ts";
import { ownCustomerOf } from "./ticket-items.ts";
import { readTicket } from "./tickets.ts";

/**
 * Maximum number of pages of up to 200 messages and replies; the transcript of a longer conversation has the newest.
 */
const PAGES_MAX_COUNT = 50;
const NAME_CHARS = 100;

/** Reads the messages and replies of a ticket, oldest first, and whether older ones are missing. */
async function readEntries(store: Store, { project }: Principal, { id }: TicketRecord) {
  const messages: MessageRecord[] = [];
  const replies: ReplyRecord[] = [];
  let before: OlderThan = { messages: Number.MAX_SAFE_INTEGER, replies: Number.MAX_SAFE_INTEGER, events: null };
  for (let page = 0; page < PAGES_MAX_COUNT; page++) {
    const found = await store.ticketDetails.readOlder(project, id, before);
    if (found === null) break;
    messages.unshift(...found.messages);
    replies.unshift(...found.replies);
    before = {
      messages: found.more.messages ? (messages[0]?.seq ?? null) : null,
      replies: found.more.replies ? (replies[0]?.seq ?? null) : null,
      events: null,
    };
    if (before.messages === null && before.replies === null) break;
  }
  return { messages, replies, isCut: before.messages !== null || before.replies !== null };
}

const AUTHORS = { agent: "Agent", operator: "Operator", system: "Automatic message" } as const;

/** Control characters except tabs, which could manipulate a terminal or a line. */
const CONTROL = /(?!\t)\p{Cc}/gu;

/** Indents the lines of a text, so that none of them looks like the header of another entry. */
const indented = (text: string) =>
  withoutBidiControls(text)
    .split(/\r\n|[\n\r\u2028\u2029]/u)
    .map((line) => `  ${line.replace(CONTROL, "")}`.trimEnd());

const timeOf = (time: Date) => `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** Returns the lines of an entry: its time and author, then its text and files. */
const entryOf = (at: Date, author: string, text: string, files: readonly string[]) => [
  "",
  `${timeOf(at)}  ${author}`,
  ...(text === "" ? [] : indented(text)),
  ...files.map((name) => `  [file] ${safeLine(name, NAME_CHARS)}`),
];

/** Returns the transcript of a conversation as plain text. */
function transcriptOf(
  ticket: TicketRecord,
  principal: Principal,
  { messages, replies, isCut }: Awaited<ReturnType<typeof readEntries>>,
): string {
  const stored = ownCustomerOf(ticket, principal);
  const stated = stored ?? customerOf(ticket.channelMeta);
  const customer = safeLine(stated?.name ?? stated?.email ?? stored?.alias ?? "Customer", NAME_CHARS);
  const entries = [
    ...messages.map(({ attachments, createdAt, seq, text }) => {
      const files = attachments.map(({ name, type }) => name ?? type);
      return { seq, lines: entryOf(createdAt, customer, text, files) };
    }),
    ...replies.map(({ author, content, createdAt, seq }) => {
      const isText = content.type === "message";
      const lines = entryOf(createdAt, AUTHORS[author], isText ? content.text : "", isText ? [] : [content.filename]);
      return { seq, lines };
    }),
  ].sort((one, other) => one.seq - other.seq);
  return [
    safeLine(ticket.subject, 200),
    `Customer: ${customer}`,
    `Channel: ${CHANNELS[ticket.channelId].label}`,
    `Started: ${timeOf(ticket.createdAt)}`,
    ...(isCut ? ["", "Earlier messages are not in this transcript."] : []),
    ...entries.flatMap(({ lines }) => lines),
    "",
  ].join("\n");
}

/** Returns the transcript of a ticket as a text file: messages and replies, without notes, drafts and reasons. */
export const getTicketTranscript = operation("getTicketTranscript", async ({ store }, principal, id) => {
  const ticket = await readTicket(store, principal, id);
  const text = transcriptOf(ticket, principal, await readEntries(store, principal, ticket));
  return { filename: `conversation-${ticket.id.slice(0, 8)}.txt`, content: Buffer.from(text) };
});

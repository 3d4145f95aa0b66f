import type { ServerFrameData, WidgetFile, WidgetReplyItem } from "@svc/contracts";
import type { Entry, FileView, ReplyEntry, VisitorEntry } from "../state.ts";

/** How many entries are kept and shown; older ones leave the browser, not the conversation. */
export const MOST_ENTRIES = 300;

/** A reply frame without its envelope. */
export interface PlacedReply {
  id: string;
  seq: number;
  data: ServerFrameData<"reply">;
}

/** A message frame without its envelope. */
export interface PlacedMessage {
  seq: number;
  data: ServerFrameData<"message">;
}

/**
 * The conversation with a reply in its place. A reply that is there already changes nothing: the same entries come back.
 */
export function addReply(entries: Entry[], { id, seq, data }: PlacedReply): Entry[] {
  if (entries.some((entry) => entry.kind === "reply" && entry.seq === seq)) return entries;
  const added = data.items.map((item, index): ReplyEntry => ({
    kind: "reply",
    key: index === 0 ? id : `${id}:${index}`,
    seq,
    at: Date.parse(data.createdAt),
    author: data.author,
    item: viewOfItem(item),
  }));
  return inOrder([...entries, ...added]);
}

/**
 * The conversation with a message of the visitor that the server has. It takes the place of the entry with the same
 * `clientMessageId`, which this tab or an earlier page has written.
 */
export function addMessage(entries: Entry[], { seq, data }: PlacedMessage): Entry[] {
  const key = data.clientMessageId ?? data.messageId;
  const before = entries.find((entry) => entry.key === key);
  if (before?.seq === seq && before.kind === "visitor" && before.state === "sent") return entries;
  const entry: VisitorEntry = {
    kind: "visitor",
    key,
    seq,
    at: Date.parse(data.createdAt),
    text: data.text,
    files: data.attachments.map(viewOfFile),
    state: "sent",
    fault: null,
  };
  return inOrder([...entries.filter((other) => other !== before), entry]);
}

/** The conversation after something has become of the message `key` of the visitor. */
export function changeMessage(entries: Entry[], key: string, values: Partial<VisitorEntry>): Entry[] {
  return inOrder(
    entries.map((entry) => (entry.kind === "visitor" && entry.key === key ? { ...entry, ...values } : entry)),
  );
}

/** Entries by their place; those without one stay last, in the order in which they were written. */
export function inOrder(entries: Entry[]): Entry[] {
  const placed = entries.filter((entry) => entry.seq !== null);
  placed.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  return [...placed.slice(-MOST_ENTRIES), ...entries.filter((entry) => entry.seq === null)];
}

/** True where nothing is known of a place between two others: what stands there has not come, or was erased. */
export function hasGap(entries: Entry[], after: number, before: number): boolean {
  const known = entries.flatMap(({ seq }) => (seq !== null && seq > after && seq < before ? [seq] : []));
  return new Set(known).size < before - after - 1;
}

/** The highest place of a reply; 0 where there is none. */
export function lastReplySeq(entries: Entry[]): number {
  return entries.reduce((last, entry) => (entry.kind === "reply" && entry.seq > last ? entry.seq : last), 0);
}

/** How many replies lie behind `seq`. What belongs to one of them (a table and its file) has one time, and counts once. */
export function countUnread(entries: Entry[], seq: number): number {
  return new Set(entries.flatMap((entry) => (entry.kind === "reply" && entry.seq > seq ? [entry.at] : []))).size;
}

/** What a pending reply says after a delta; null where a delta before it is missing. */
export function growPartial(partial: string | null, { offset, text }: ServerFrameData<"delta">): string | null {
  const before = partial ?? "";
  return offset > before.length ? null : before.slice(0, offset) + text;
}

function viewOfFile({ fileId, filename, mime, sizeBytes, expired = false }: WidgetFile): FileView {
  return { fileId, filename, mime, sizeBytes, progress: null, ...(expired && { expired }) };
}

function viewOfItem(item: WidgetReplyItem): ReplyEntry["item"] {
  if (item.type === "attachment") return { type: "file", file: viewOfFile(item) };
  return { type: "message", text: item.text, markdown: item.markdown, sources: item.sources ?? [] };
}

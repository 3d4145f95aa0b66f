import type { ServerFrameData, WidgetFile, WidgetReplyItem } from "@svc/contracts";
import type { Entry, FileView, ReplyEntry, VisitorEntry } from "../state.ts";
import type { Storage } from "../storage.ts";

/** How many entries are kept and shown; older ones leave the browser, not the conversation. */
export const MOST_ENTRIES = 300;

/** A reply frame without its envelope. */
export interface ReplyWithSeq {
  id: string;
  seq: number;
  data: ServerFrameData<"reply">;
}

/** A message frame without its envelope. */
export interface MessageWithSeq {
  seq: number;
  data: ServerFrameData<"message">;
}

/**
 * The conversation with a reply in its place. A reply that is there already changes nothing: the same entries come back.
 */
export function addReply(entries: Entry[], { id, seq, data }: ReplyWithSeq): Entry[] {
  if (entries.some((entry) => entry.kind === "reply" && entry.seq === seq)) return entries;
  const added = data.items.map((item, index): ReplyEntry => ({
    kind: "reply",
    key: index === 0 ? id : `${id}:${index}`,
    seq,
    at: Date.parse(data.createdAt),
    author: data.author,
    name: data.authorName,
    picture: data.authorPicture,
    item: viewOfItem(item),
  }));
  return inOrder([...entries, ...added]);
}

/**
 * The conversation with a message of the visitor that the server has. It takes the place of the entry with the same
 * `clientMessageId`, which this tab or an earlier page has written.
 */
export function addMessage(entries: Entry[], { seq, data }: MessageWithSeq): Entry[] {
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
  const withSeq = entries.filter((entry) => entry.seq !== null);
  withSeq.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  return [...withSeq.slice(-MOST_ENTRIES), ...entries.filter((entry) => entry.seq === null)];
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

/** How satisfied the visitor is: 1 to 5, and why. */
export interface Rating {
  score: number;
  comment?: string;
}

/** What is kept of a conversation, so that a reload shows it at once. */
export interface History {
  chatId: string | null;
  /** Up to where the server has sent everything. What an `ack` says is not counted: replies before it may be missing. */
  sinceSeq: number;
  /** Up to where the visitor has seen the replies. */
  readSeq: number;
  conversation: "open" | "waiting" | "done";
  rating: number | null;
  /** The rating of which the server has not said yet that it has it. */
  pendingRating: Rating | null;
  entries: Entry[];
}

const NAME = "history";
/** Characters of JSON: localStorage holds 5 million for the whole site, of which a chat must not take much. */
const MOST_CHARS = 400_000;
const FEW_ENTRIES = 20;

/** A conversation of which nothing is known. */
export const NO_HISTORY: History = {
  chatId: null,
  sinceSeq: 0,
  readSeq: 0,
  conversation: "open",
  rating: null,
  pendingRating: null,
  entries: [],
};

/** The kept conversation. Anything of another shape, as an older or a foreign script may leave, counts as nothing. */
export function readHistory(storage: Storage): History {
  const kept = storage.read(NAME);
  return isHistory(kept) ? { ...kept, entries: inOrder(kept.entries) } : NO_HISTORY;
}

/**
 * Keeps the conversation: what the server has, the newest entries as far as there is room. Where another tab has kept
 * more of the same conversation already, that stays. False where the browser did not take it.
 */
export function keepHistory(storage: Storage, history: History): boolean {
  const kept = storage.read(NAME);
  if (isHistory(kept) && kept.chatId === history.chatId && kept.sinceSeq > history.sinceSeq) return true;
  let entries = history.entries.filter((entry) => entry.seq !== null);
  while (entries.length > 1 && JSON.stringify(entries).length > MOST_CHARS)
    entries = entries.slice(entries.length >> 1);
  if (storage.write(NAME, { ...history, entries })) return true;
  // Where the site has left little room, a short history is better than none.
  return storage.write(NAME, { ...history, entries: entries.slice(-FEW_ENTRIES) });
}

/** Removes what is kept. */
export function dropHistory(storage: Storage): void {
  storage.write(NAME, null);
}

function isHistory(value: unknown): value is History {
  if (!isRecord(value) || !Array.isArray(value["entries"])) return false;
  return (
    hasPosition(value["sinceSeq"]) &&
    hasPosition(value["readSeq"]) &&
    ["open", "waiting", "done"].includes(String(value["conversation"])) &&
    (value["pendingRating"] === null || isRecord(value["pendingRating"])) &&
    value["entries"].every(isEntry)
  );
}

/** Enough of the shape that nothing that shows an entry can fail. */
function isEntry(value: unknown): value is Entry {
  if (!isRecord(value) || typeof value["key"] !== "string" || !hasPosition(value["seq"])) return false;
  const item = value["item"];
  if (value["kind"] === "visitor") return typeof value["text"] === "string" && isFiles(value["files"]);
  if (value["kind"] !== "reply" || !isRecord(item)) return false;
  return item["type"] === "file"
    ? isFile(item["file"])
    : item["type"] === "message" && typeof item["text"] === "string" && Array.isArray(item["sources"]);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const hasPosition = (value: unknown): boolean => typeof value === "number" && value >= 0;
const isFile = (value: unknown): boolean => isRecord(value) && typeof value["filename"] === "string";
const isFiles = (value: unknown): boolean => Array.isArray(value) && value.every(isFile);

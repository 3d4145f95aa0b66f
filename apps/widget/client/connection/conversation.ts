import type { ServerFrameData, WidgetFile, WidgetReplyItem } from "@svc/contracts";
import type { Entry, FileView, ReplyEntry, VisitorEntry } from "../state.ts";
import type { Storage } from "../storage.ts";

/** Maximum number of stored and shown entries; older ones are removed from the browser, not from the conversation. */
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

/** Returns the conversation with a reply at its position. For an existing reply the same entries are returned. */
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
 * Returns the conversation with a stored message of the visitor. It replaces the entry with the same `clientMessageId`,
 * written in this tab or on an earlier page.
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

/** Returns the conversation with changes to the visitor's message `key`. */
export function changeMessage(entries: Entry[], key: string, values: Partial<VisitorEntry>): Entry[] {
  return inOrder(
    entries.map((entry) => (entry.kind === "visitor" && entry.key === key ? { ...entry, ...values } : entry)),
  );
}

/** Sorts entries by sequence number; those without one stay last, in the order in which they were written. */
export function inOrder(entries: Entry[]): Entry[] {
  const withSeq = entries.filter((entry) => entry.seq !== null);
  withSeq.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  return [...withSeq.slice(-MOST_ENTRIES), ...entries.filter((entry) => entry.seq === null)];
}

/** Returns true if a sequence number between two others is missing: its entry has not arrived, or was erased. */
export function hasGap(entries: Entry[], after: number, before: number): boolean {
  const known = entries.flatMap(({ seq }) => (seq !== null && seq > after && seq < before ? [seq] : []));
  return new Set(known).size < before - after - 1;
}

/** Returns the highest sequence number of a reply; 0 if there is none. */
export function lastReplySeq(entries: Entry[]): number {
  return entries.reduce((last, entry) => (entry.kind === "reply" && entry.seq > last ? entry.seq : last), 0);
}

/**
 * Returns the number of replies after `seq`. Parts of one reply (a table and its file) have the same time, and count
 * once.
 */
export function countUnread(entries: Entry[], seq: number): number {
  return new Set(entries.flatMap((entry) => (entry.kind === "reply" && entry.seq > seq ? [entry.at] : []))).size;
}

/** Returns the unfinished text of a pending reply after a delta; null if a previous delta is missing. */
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

/** The visitor's satisfaction, 1 to 5, with a comment. */
export interface Rating {
  score: number;
  comment?: string;
}

/** The stored part of a conversation, which a reload shows immediately. */
export interface History {
  chatId: string | null;
  /** Sequence number up to which everything has arrived. An `ack` does not count: replies before it may be missing. */
  sinceSeq: number;
  /** Sequence number up to which the visitor has seen the replies. */
  readSeq: number;
  conversation: "open" | "waiting" | "done";
  rating: number | null;
  /** The rating that the server has not confirmed. */
  pendingRating: Rating | null;
  entries: Entry[];
}

const NAME = "history";
/** Maximum characters of JSON: localStorage holds 5 million for the whole site, of which the widget uses little. */
const MOST_CHARS = 400_000;
const FEW_ENTRIES = 20;

/** An empty conversation. */
export const NO_HISTORY: History = {
  chatId: null,
  sinceSeq: 0,
  readSeq: 0,
  conversation: "open",
  rating: null,
  pendingRating: null,
  entries: [],
};

/**
 * Reads the stored conversation. A value with another structure, left by an older or another script, counts as empty.
 */
export function readHistory(storage: Storage): History {
  const kept = storage.read(NAME);
  return isHistory(kept) ? { ...kept, entries: inOrder(kept.entries) } : NO_HISTORY;
}

/**
 * Stores the conversation: entries that the server has, the newest ones as far as they fit. A more recent state of the
 * same conversation stored by another tab is kept. Returns false if the browser rejected it.
 */
export function saveHistory(storage: Storage, history: History): boolean {
  const kept = storage.read(NAME);
  if (isHistory(kept) && kept.chatId === history.chatId && kept.sinceSeq > history.sinceSeq) return true;
  let entries = history.entries.filter((entry) => entry.seq !== null);
  while (entries.length > 1 && JSON.stringify(entries).length > MOST_CHARS)
    entries = entries.slice(entries.length >> 1);
  if (storage.write(NAME, { ...history, entries })) return true;
  // If the site has left little space, a short history is better than none.
  return storage.write(NAME, { ...history, entries: entries.slice(-FEW_ENTRIES) });
}

/** Removes the stored conversation. */
export function deleteHistory(storage: Storage): void {
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

/** Checks what is needed to show an entry without errors. */
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

import type { Entry } from "../state.ts";
import { inOrder } from "./conversation.ts";
import type { Storage } from "../storage.ts";

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
    isPlace(value["sinceSeq"]) &&
    isPlace(value["readSeq"]) &&
    ["open", "waiting", "done"].includes(String(value["conversation"])) &&
    (value["pendingRating"] === null || isRecord(value["pendingRating"])) &&
    value["entries"].every(isEntry)
  );
}

/** Enough of the shape that nothing that shows an entry can fail. */
function isEntry(value: unknown): value is Entry {
  if (!isRecord(value) || typeof value["key"] !== "string" || !isPlace(value["seq"])) return false;
  const item = value["item"];
  if (value["kind"] === "visitor") return typeof value["text"] === "string" && isFiles(value["files"]);
  if (value["kind"] !== "reply" || !isRecord(item)) return false;
  return item["type"] === "file"
    ? isFile(item["file"])
    : item["type"] === "message" && typeof item["text"] === "string" && Array.isArray(item["sources"]);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isPlace = (value: unknown): boolean => typeof value === "number" && value >= 0;
const isFile = (value: unknown): boolean => isRecord(value) && typeof value["filename"] === "string";
const isFiles = (value: unknown): boolean => Array.isArray(value) && value.every(isFile);

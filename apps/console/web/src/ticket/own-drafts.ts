import type { RenderedReply, TicketDetail } from "@svc/contracts";
import type { TextStorage } from "../session/services.ts";

/** What of a ticket somebody has seen, short enough to be kept with a text that was begun. */
export interface SeenTicket {
  /** The places in the chat of the newest message and of the newest reply; 0 where there was none. */
  messageSeq: number;
  replySeq: number;
  /** The newest event; 0 where there was none. */
  eventId: number;
  /** Which draft it was; null where there was none. */
  draft: string | null;
  status: TicketDetail["status"];
  assignee: string | null;
}

/** Something that has happened since somebody looked. */
export type SeenChange =
  | { kind: "message"; text: string }
  | { kind: "reply"; author: "agent" | "operator" | "system"; text: string }
  | { kind: "draft" }
  | { kind: "status"; status: TicketDetail["status"] }
  | { kind: "assignee"; assignee: string | null };

const draftOf = ({ draft }: TicketDetail) => (draft === null ? null : `${draft.createdAt} ${draft.text.length}`);

/** What is to be seen of a ticket now. */
export const seenOf = (ticket: TicketDetail): SeenTicket => ({
  messageSeq: ticket.messages.at(-1)?.seq ?? 0,
  replySeq: ticket.replies.at(-1)?.seq ?? 0,
  eventId: ticket.events.at(-1)?.id ?? 0,
  draft: draftOf(ticket),
  status: ticket.status,
  assignee: ticket.assignee,
});

/**
 * What has happened to a ticket since it was looked at, as far as it matters for an answer of `me`. Empty where nothing
 * has. What one has done oneself is no news: a reply of operators is one's own where nobody else has decided anything.
 */
export function describeChanges(seen: SeenTicket, now: TicketDetail, me: string): SeenChange[] {
  const isOfOthers = now.events.some(
    ({ actor, data, id }) => id > seen.eventId && actor !== me && actor !== "pipeline" && !("note" in data),
  );
  const messages = now.messages
    .filter(({ seq }) => seq > seen.messageSeq)
    .map(({ text }) => ({ kind: "message" as const, text }));
  const replies = now.replies
    .filter(({ author, seq }) => seq > seen.replySeq && (isOfOthers || author !== "operator"))
    .map((reply) => ({
      kind: "reply" as const,
      author: reply.author,
      text: reply.type === "message" ? reply.text : reply.filename,
    }));
  const isOtherDraft = now.draft !== null && draftOf(now) !== seen.draft;
  const isOtherStatus = now.status !== seen.status && (isOfOthers || messages.length > 0);
  return [
    ...messages,
    ...replies,
    ...(isOtherDraft ? [{ kind: "draft" as const }] : []),
    ...(isOtherStatus ? [{ kind: "status" as const, status: now.status }] : []),
    ...(isOfOthers && now.assignee !== seen.assignee ? [{ kind: "assignee" as const, assignee: now.assignee }] : []),
  ];
}

/** Whether an answer that was written before these changes must not go out unseen. */
export const isInTheWay = (changes: readonly SeenChange[]): boolean =>
  changes.some(({ kind }) => kind === "message" || kind === "reply");

/** How something that is written is meant. */
export const COMPOSE_MODES = ["reply", "edit", "note"] as const;
export type ComposeMode = (typeof COMPOSE_MODES)[number];

/** A text of each kind. They stay apart: what was written as a note is never sent as a reply. */
export type OwnTexts = Record<ComposeMode, string>;
/** Nothing was begun. */
export const NO_TEXTS: OwnTexts = { reply: "", edit: "", note: "" };

/** Returns true if anything was begun, or anything of the kinds that are given. */
export const hasText = (texts: OwnTexts, kinds: readonly ComposeMode[] = COMPOSE_MODES): boolean =>
  kinds.some((kind) => texts[kind].trim() !== "");

/** A file that goes with a text. */
export interface KeptFile {
  name: string;
  sizeBytes: number;
  /** What the server calls it; null where it has not got it, or not whole. */
  fileId: string | null;
  /** When it was handed in, in milliseconds since 1970. */
  atMs: number;
}

/** What changes on the ticket with a reply, as the canned reply has it that was inserted last. */
export type Macro = Pick<RenderedReply, "actions" | "resolves">;

/** What somebody has begun to write for a ticket. */
export interface OwnDraft {
  /** The kind that is shown. */
  mode: ComposeMode;
  texts: OwnTexts;
  macro: Macro | null;
  /** The state of the ticket when the draft was begun; null if unknown. */
  seen: SeenTicket | null;
  files: readonly KeptFile[];
}

/** Maximum number of stored drafts; the last written ones are kept. */
const MAX_COUNT = 200;
const PREFIX = "console.draft.";

const isMode = (value: unknown): value is ComposeMode => COMPOSE_MODES.some((mode) => mode === value);
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function isSeen(value: unknown): value is SeenTicket {
  if (!isRecord(value)) return false;
  const { assignee, draft, eventId, messageSeq, replySeq, status } = value;
  const areNumbers = [messageSeq, replySeq, eventId].every((number) => typeof number === "number");
  return (
    areNumbers && typeof status === "string" && [assignee, draft].every((x) => x === null || typeof x === "string")
  );
}

function isFile(value: unknown): value is KeptFile {
  if (!isRecord(value)) return false;
  const { atMs, fileId, name, sizeBytes } = value;
  const isNamed = typeof name === "string" && typeof sizeBytes === "number" && typeof atMs === "number";
  return isNamed && (fileId === null || typeof fileId === "string");
}

const isMacro = (value: unknown): value is Macro =>
  isRecord(value) && isRecord(value["actions"]) && typeof value["resolves"] === "boolean";

/** Parses a stored draft; null if it is not one. */
function readDraft(text: string | null): (OwnDraft & { at: number }) | null {
  try {
    const kept: unknown = JSON.parse(text ?? "null");
    if (!isRecord(kept) || !isMode(kept["mode"])) return null;
    const { aside, at, files, macro, mode, seen, text: oldText } = kept;
    // An earlier version of the console stored the text of the mode, and one beside it.
    const old = { [mode === "edit" ? "reply" : "edit"]: aside, [mode]: oldText };
    const texts = isRecord(kept["texts"]) ? kept["texts"] : old;
    const textOf = (kind: ComposeMode) => (typeof texts[kind] === "string" ? texts[kind] : "");
    return {
      mode,
      texts: { reply: textOf("reply"), edit: textOf("edit"), note: textOf("note") },
      macro: isMacro(macro) ? macro : null,
      seen: isSeen(seen) ? seen : null,
      files: Array.isArray(files) ? files.filter(isFile) : [],
      at: typeof at === "number" ? at : 0,
    };
  } catch {
    // Somebody else's text is no draft.
    return null;
  }
}

/** The unfinished texts of one operator in this browser. */
export function openOwnDrafts(storage: TextStorage, operatorId: string) {
  const prefix = `${PREFIX}${operatorId}.`;
  const read = (key: string) => readDraft(storage.getItem(key));
  return {
    /** What was begun for a ticket; null where nothing was. */
    find: (ticketId: string): OwnDraft | null => read(prefix + ticketId),
    /** Keeps what is written; an empty text without files is forgotten. */
    keep(ticketId: string, draft: OwnDraft, nowMs = Date.now()): void {
      const key = prefix + ticketId;
      if (!hasText(draft.texts) && draft.files.length === 0) return storage.removeItem(key);
      storage.setItem(key, JSON.stringify({ ...draft, at: nowMs }));
      const keys = storage.keys().filter((other) => other.startsWith(prefix));
      if (keys.length <= MAX_COUNT) return;
      const oldest = keys.map((other) => ({ other, at: read(other)?.at ?? 0 })).sort((a, b) => a.at - b.at);
      for (const { other } of oldest.slice(0, keys.length - MAX_COUNT)) storage.removeItem(other);
    },
    /** Forgets what was sent, wherever it is shown: in other tabs, and where the ticket was left and opened again. */
    forget(ticketId: string): void {
      const key = prefix + ticketId;
      storage.removeItem(key);
      globalThis.dispatchEvent(new StorageEvent("storage", { key, newValue: null }));
    },
    /** Tells when another tab has kept something for the ticket, and when it is forgotten (null), wherever that is. */
    onOther(ticketId: string, listener: (draft: OwnDraft | null) => void): () => void {
      const hear = ({ key, newValue }: StorageEvent) => {
        if (key === prefix + ticketId) listener(readDraft(newValue));
      };
      globalThis.addEventListener("storage", hear);
      return () => globalThis.removeEventListener("storage", hear);
    },
  };
}
export type OwnDrafts = ReturnType<typeof openOwnDrafts>;

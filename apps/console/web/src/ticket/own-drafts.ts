import type { RenderedReply, TicketDetail } from "@svc/contracts";
import { unsentPrefixOf } from "../session/services.ts";
import type { TextStorage } from "../session/services.ts";

/** The state of a ticket that an operator has seen, stored with an unsent text. */
export interface SeenTicket {
  /** Sequence numbers of the newest message and of the newest reply; 0 if there was none. */
  messageSeq: number;
  replySeq: number;
  /** Id of the newest event; 0 if there was none. */
  eventId: number;
  /** Identifies the draft of the agent; null if there was none. */
  draft: string | null;
  status: TicketDetail["status"];
  assignee: string | null;
}

/** A change of a ticket that the operator has not seen. */
export type UnseenChange =
  | { kind: "message"; text: string }
  | { kind: "reply"; author: "agent" | "operator" | "system"; text: string }
  | { kind: "draft" }
  | { kind: "status"; status: TicketDetail["status"] }
  | { kind: "assignee"; assignee: string | null };

const draftOf = ({ draft }: TicketDetail) => (draft === null ? null : `${draft.createdAt} ${draft.text.length}`);

/** Returns the present state of a ticket, as seen by the operator. */
export const seenOf = (ticket: TicketDetail): SeenTicket => ({
  messageSeq: ticket.messages.at(-1)?.seq ?? 0,
  replySeq: ticket.replies.at(-1)?.seq ?? 0,
  eventId: ticket.events.at(-1)?.id ?? 0,
  draft: draftOf(ticket),
  status: ticket.status,
  assignee: ticket.assignee,
});

/**
 * Returns the changes of a ticket since `seen` that matter for a reply of `me`. The operator's own changes are left out:
 * a new reply of an operator is their own if nobody else has made a decision.
 */
export function describeChanges(seen: SeenTicket, now: TicketDetail, me: string): UnseenChange[] {
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

/** Returns true if a reply must not be sent before the operator has seen these changes. */
export const mustBeSeen = (changes: readonly UnseenChange[]): boolean =>
  changes.some(({ kind }) => kind === "message" || kind === "reply");

/** Kind of a text in the composer. */
export const COMPOSE_MODES = ["reply", "edit", "note"] as const;
export type ComposeMode = (typeof COMPOSE_MODES)[number];

/** The unsent texts by kind. They are separate, so that a note is never sent as a reply. */
type OwnTexts = Record<ComposeMode, string>;
/** No unsent texts. */
export const NO_TEXTS: OwnTexts = { reply: "", edit: "", note: "" };

/** Returns true if there is an unsent text of one of these kinds. */
export const hasText = (texts: OwnTexts, kinds: readonly ComposeMode[] = COMPOSE_MODES): boolean =>
  kinds.some((kind) => texts[kind].trim() !== "");

/** A file that is attached to an unsent text. */
export interface DraftFile {
  name: string;
  sizeBytes: number;
  /** Id of the file; null if it is not uploaded completely. */
  fileId: string | null;
  /** Time of the upload, in milliseconds since 1970. */
  atMs: number;
}

/** The changes of the ticket that the last inserted canned reply makes when the reply is sent. */
export type Macro = Pick<RenderedReply, "actions" | "resolves">;

/** The unsent texts of an operator for a ticket, with files. */
export interface OwnDraft {
  /** The kind that is shown. */
  mode: ComposeMode;
  texts: OwnTexts;
  macro: Macro | null;
  /** The state of the ticket when the draft was begun; null if unknown. */
  seen: SeenTicket | null;
  files: readonly DraftFile[];
}

/** Maximum number of stored drafts; the last written ones are kept. */
const MAX_COUNT = 200;

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

function isFile(value: unknown): value is DraftFile {
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
    const stored: unknown = JSON.parse(text ?? "null");
    if (!isRecord(stored) || !isMode(stored["mode"])) return null;
    const { aside, at, files, macro, mode, seen, text: oldText } = stored;
    // An earlier version stored the text of the mode, and the text of one other mode.
    const old = { [mode === "edit" ? "reply" : "edit"]: aside, [mode]: oldText };
    const texts = isRecord(stored["texts"]) ? stored["texts"] : old;
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
    // The stored value was not written by this code.
    return null;
  }
}

/** Opens the unsent texts of one operator in this browser. */
export function openOwnDrafts(storage: TextStorage, operatorId: string) {
  const prefix = unsentPrefixOf(operatorId);
  const read = (key: string) => readDraft(storage.getItem(key));
  return {
    /** Returns the unsent texts of a ticket, or null. */
    find: (ticketId: string): OwnDraft | null => read(prefix + ticketId),
    /** Stores a draft; deletes it if it has neither text nor files. */
    save(ticketId: string, draft: OwnDraft, nowMs = Date.now()): void {
      const key = prefix + ticketId;
      if (!hasText(draft.texts) && draft.files.length === 0) return storage.removeItem(key);
      storage.setItem(key, JSON.stringify({ ...draft, at: nowMs }));
      const keys = storage.keys().filter((other) => other.startsWith(prefix));
      if (keys.length <= MAX_COUNT) return;
      const oldest = keys.map((other) => ({ other, at: read(other)?.at ?? 0 })).sort((a, b) => a.at - b.at);
      for (const { other } of oldest.slice(0, keys.length - MAX_COUNT)) storage.removeItem(other);
    },
    /** Deletes a draft that was sent, and notifies all composers of the ticket in all tabs. */
    remove(ticketId: string): void {
      const key = prefix + ticketId;
      storage.removeItem(key);
      globalThis.dispatchEvent(new StorageEvent("storage", { key, newValue: null }));
    },
    /** Calls the listener with a draft that another tab has stored, and with null if the draft is deleted in any tab. */
    onChange(ticketId: string, listener: (draft: OwnDraft | null) => void): () => void {
      const handle = ({ key, newValue }: StorageEvent) => {
        if (key === prefix + ticketId) listener(readDraft(newValue));
      };
      globalThis.addEventListener("storage", handle);
      return () => globalThis.removeEventListener("storage", handle);
    },
  };
}
export type OwnDrafts = ReturnType<typeof openOwnDrafts>;

/** Maximum length of a name in a mention. */
const WORD_MAX_CHARS = 40;

/** Returns the mention at the caret: the position of its @, and the letters so far; null if there is none. */
export function findMention(text: string, caret: number): { at: number; word: string } | null {
  const before = text.slice(0, caret);
  const at = before.lastIndexOf("@");
  if (at < 0 || (at > 0 && !/\s/.test(before.charAt(at - 1)))) return null;
  const word = before.slice(at + 1);
  return word.length > WORD_MAX_CHARS || /\s/.test(word) ? null : { at, word };
}

const ACTOR = /^operator:/;
/** Copied from REVIEW_LIMITS of the contracts; the server checks it. */
const MENTIONS_MAX_COUNT = 20;

/** Characters that may precede the @ of a mention, so that an email address is not one. */
const BEFORE = /[^\p{L}\p{N}\p{M}_.]$/u;
/** Characters that continue a name: Ann is neither Anna nor Ann-Marie. */
const GOES_ON = /^(?:[\p{L}\p{N}\p{M}_]|-\p{L})/u;

/** Returns the names after an @ in a text: the longest match at each position. */
function namesIn(text: string, names: readonly string[]): Set<string> {
  const longestFirst = names.filter((name) => name !== "").sort((one, other) => other.length - one.length);
  const found = new Set<string>();
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    if (at > 0 && !BEFORE.test(text.slice(Math.max(0, at - 2), at))) continue;
    const name = longestFirst.find(
      (one) => text.startsWith(one, at + 1) && !GOES_ON.test(text.slice(at + 1 + one.length, at + 4 + one.length)),
    );
    if (name !== undefined) found.add(name);
  }
  return found;
}

/**
 * Returns the ids of operators whom a note mentions, whose names follow an @. Of several with the same name, those
 * `chosen` from the list if any, otherwise all. The author is excluded.
 */
export function mentionsIn(
  text: string,
  people: readonly { actor: string; name: string; isMe?: boolean }[],
  chosen: readonly string[] = [],
): { mentions?: string[] } {
  const names = namesIn(
    text,
    people.map(({ name }) => name),
  );
  const isChosen = ({ actor }: { actor: string }) => chosen.includes(actor);
  const mentions = [...names]
    .flatMap((name) => {
      const namesakes = people.filter((person) => person.name === name);
      return namesakes.some(isChosen) ? namesakes.filter(isChosen) : namesakes;
    })
    .filter(({ isMe }) => isMe !== true)
    .map(({ actor }) => actor.replace(ACTOR, ""))
    .slice(0, MENTIONS_MAX_COUNT);
  return mentions.length === 0 ? {} : { mentions };
}

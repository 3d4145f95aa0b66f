import { WIDGET_LIMITS } from "@svc/contracts";
import type { ReplyAuthor, Source, WidgetFile } from "@svc/contracts";
import { VIEWER_TIMEOUT_SECONDS } from "../people/operators.ts";
import { BAD_RATING_MAX_SCORE } from "../platform/stats.ts";
import { batched } from "../context.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { columnsOf, statements } from "../sql.ts";

/** Reserved ids per step of the sweeper. */
const SWEEP_PAGE = 500;

/** The message of a client-supplied id; `seq` is null until it is committed. */
export interface ReservedMessage {
  messageId: string;
  seq: number | null;
}

/** A reply that a browser has received, and the message that it answers, if any. */
export interface ConfirmedReply {
  inReplyTo: string | null;
}

/** A range of sequence numbers in a chat: after `after`, up to `upTo`. */
export interface SeqRange {
  after: number;
  upTo: number;
}

/** State of a visitor's conversation. */
export interface ChatView {
  /** Sequence number of the newest message or reply; 0 in a chat that does not exist yet. */
  lastSeq: number;
  /** Public name of the operator who is typing, empty for one without a name; null if none is. */
  writer: string | null;
  /** The message that is being answered; null if there is none. */
  pending: { messageId: string; text: string | null } | null;
  state: "open" | "waiting" | "done";
  /** The visitor's score, 1 to 5; null without one. */
  rating: number | null;
}

/** An entry of a chat, as its visitor may see it. */
export type ChatEntry =
  | {
      kind: "message";
      id: string;
      seq: number;
      createdAt: Date;
      clientMessageId: string | null;
      text: string;
      attachments: WidgetFile[];
    }
  | {
      kind: "reply";
      id: string;
      seq: number;
      createdAt: Date;
      author: ReplyAuthor;
      /** Public name of its author, an operator or agent; empty without one. */
      authorName: string;
      authorPicture: string;
      inReplyTo: string | null;
      item:
        | { type: "message"; text: string; markdown: boolean; sources: Source[] }
        | ({ type: "attachment" } & WidgetFile);
    };

interface EntryRow {
  kind: "message" | "reply";
  id: string;
  seq: number;
  createdAt: Date;
  clientMessageId: string | null;
  text: string | null;
  files: WidgetFile[] | null;
  author: ReplyAuthor;
  authorName: string;
  authorPicture: string;
  inReplyTo: string | null;
  type: "message" | "attachment";
  markdown: boolean | null;
  sources: Source[] | null;
  filename: string | null;
  mime: string | null;
  sizeBytes: number | null;
}

const sql = statements("messages/visitors", {
  widgetLimitsUnusedFileHours: WIDGET_LIMITS.unusedFileHours,
  sweepPage: SWEEP_PAGE,
  badRatingMaxScore: BAD_RATING_MAX_SCORE,
  goneSeconds: VIEWER_TIMEOUT_SECONDS,
  lastLineMaxChars: WIDGET_LIMITS.lastLineMaxChars,
});

function asEntry(row: EntryRow): ChatEntry {
  const position = { id: row.id, seq: row.seq, createdAt: row.createdAt };
  if (row.kind === "message") {
    const { clientMessageId, text, files } = row;
    return { kind: "message", ...position, clientMessageId, text: text ?? "", attachments: files ?? [] };
  }
  const { author, authorName, authorPicture, inReplyTo } = row;
  const item =
    row.type === "message"
      ? { type: "message" as const, text: row.text ?? "", markdown: row.markdown ?? false, sources: row.sources ?? [] }
      : {
          type: "attachment" as const,
          fileId: row.id,
          filename: row.filename ?? "",
          mime: row.mime ?? "",
          sizeBytes: row.sizeBytes ?? 0,
        };
  return { kind: "reply", ...position, author, authorName, authorPicture, inReplyTo, item };
}

interface DeliveredRange extends SeqRange {
  project: ProjectId;
  ticketId: string;
}

const confirmBatched = batched<Db, DeliveredRange, ConfirmedReply[]>(
  async (db: Db, items) => {
    const rows = await sql.confirm.all<{ ticketId: string; inReplyTo: string | null }>(db, {
      ...columnsOf(items, "ticketId", "after", "upTo"),
      projectId: items.map((item) => item.project),
    });
    const byTicket = new Map<string, ConfirmedReply[]>();
    for (const { ticketId, inReplyTo } of rows) {
      byTicket.set(ticketId, [...(byTicket.get(ticketId) ?? []), { inReplyTo }]);
    }
    return items.map(({ ticketId }) => {
      const confirmed = byTicket.get(ticketId) ?? [];
      // Two calls for one chat in one batch: the first one has confirmed the replies of both.
      byTicket.delete(ticketId);
      return confirmed;
    });
  },
  { lanes: 1 },
);

/**
 * Returns the message of a client-supplied id in a chat: the first call reserves it, and later ones get the same on
 * every replica. `seq` is set once it is committed.
 */
export async function reserve(
  db: Db,
  project: ProjectId,
  ticketId: string,
  clientMessageId: string,
): Promise<ReservedMessage> {
  const row = await sql.reserve.one<{ messageId: string; seq: number | null }>(db, {
    project,
    ticketId,
    clientMessageId,
    messageId: newId(),
  });
  if (row === null) throw new Error("a reserved client ID was not found");
  return row;
}

/**
 * Deletes some reserved ids of all projects whose message was not committed within a day. Returns true if there may be
 * more.
 */
export async function removeReserved(db: Db): Promise<boolean> {
  const row = await sql.sweep.one(db);
  return row?.seen === SWEEP_PAGE;
}

/** Returns the state of chats, in the given order; a chat that does not exist yet is empty and open. */
export async function readChatViews(
  db: Db,
  chats: readonly { project: ProjectId; ticketId: string }[],
): Promise<ChatView[]> {
  const rows = await sql.look.all<{
    place: number;
    lastSeq: number;
    messageId: string | null;
    text: string | null;
    score: number | null;
    writer: string | null;
    state: ChatView["state"];
  }>(db, { projectId: chats.map((chat) => chat.project), ticketId: chats.map((chat) => chat.ticketId) });
  const found = new Map(
    rows.map((row): [number, ChatView] => [
      row.place,
      {
        lastSeq: row.lastSeq,
        writer: row.writer,
        pending: row.messageId === null ? null : { messageId: row.messageId, text: row.text },
        state: row.state,
        rating: row.score,
      },
    ]),
  );
  return chats.map(
    (_chat, index) => found.get(index + 1) ?? { lastSeq: 0, writer: null, pending: null, state: "open", rating: null },
  );
}

/** Returns the entries of a chat after a sequence number, oldest first, at most `limit`. */
// oxlint-disable-next-line max-params -- Fence, range and caller are one value each.
export async function listAfter(
  db: Db,
  project: ProjectId,
  ticketId: string,
  seq: number,
  limit: number,
): Promise<ChatEntry[]> {
  const rows = await sql.read.all<EntryRow>(db, { project, ticketId, seq, limit });
  return rows.map(asEntry);
}

/** A conversation of a visitor, for a list. */
export interface ChatSummary {
  /** Its position in the list of tickets of the call; the first is 1. */
  place: number;
  createdAt: Date;
  /** Author of the last entry. */
  author: "visitor" | ReplyAuthor;
  /** Beginning of the last text, or the name of a file. */
  text: string;
  markdown: boolean;
  /** True if there are replies that the visitor has not seen. */
  isUnread: boolean;
}

/** Returns those of these conversations that have entries, newest first. */
export const listChats = (db: Db, project: ProjectId, ticketIds: readonly string[]) =>
  sql.listChats.all<ChatSummary>(db, { project, ticketIds });

/**
 * Records that the replies of a range were delivered, and returns those that were not recorded before. Concurrent calls
 * share a statement. Safe to repeat.
 */
export const confirm = (db: Db, project: ProjectId, ticketId: string, positions: SeqRange): Promise<ConfirmedReply[]> =>
  confirmBatched(db, { project, ticketId, ...positions });

/** Records the position up to which a visitor has read; limited to existing entries, and never moves backwards. */
export async function recordRead(db: Db, project: ProjectId, ticketId: string, seq: number): Promise<void> {
  await sql.readUpTo.run(db, { project, ticketId, seq });
}

/**
 * Stores the rating of a visitor, replacing an earlier one, with an event on the ticket. Returns whether the score differs
 * from the one before; null if the conversation has no ticket yet.
 */
export const rate = (
  db: Db,
  project: ProjectId,
  ticketId: string,
  { score, comment }: { score: number; comment: string | null },
): Promise<{ hasNewScore: boolean } | null> => sql.rate.one(db, { project, ticketId, score, comment });

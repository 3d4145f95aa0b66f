import { WIDGET_LIMITS } from "@svc/contracts";
import type { ReplyAuthor, Source, WidgetFile } from "@svc/contracts";
import { GONE_SECONDS } from "../people/operators.ts";
import { BAD_RATING_MAX_SCORE } from "../platform/stats.ts";
import { batched } from "../context.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** Reserved ids that one step of the sweeper goes through. */
const SWEEP_PAGE = 500;

/** The message that a client's id stands for; `seq` is null while it is not committed. */
export interface ReservedMessage {
  messageId: string;
  seq: number | null;
}

/** A reply that a browser has received: which message it answers, if any. */
export interface ConfirmedReply {
  inReplyTo: string | null;
}

/** Places of a chat that follow each other: those after `after`, up to `upTo`. */
export interface SeqRange {
  after: number;
  upTo: number;
}

/** How a visitor's conversation stands. */
export interface ChatView {
  /** Place of the newest message or reply; 0 in a chat that is not there yet. */
  lastSeq: number;
  /** Public name of the operator who is writing, empty for one without; null when none is. */
  writer: string | null;
  /** The message that is being answered; null when none is. */
  pending: { messageId: string; text: string | null } | null;
  state: "open" | "waiting" | "done";
  /** The score that the visitor gave, 1 to 5; null while none. */
  rating: number | null;
}

/** Something that was said in a chat, as its visitor may see it. */
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
      /** What visitors see of the operator or agent who wrote it; empty if there is nothing. */
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
  goneSeconds: GONE_SECONDS,
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

interface HandedOver extends SeqRange {
  project: ProjectId;
  ticketId: string;
}

const confirmBatched = batched<Db, HandedOver, ConfirmedReply[]>(
  async (db: Db, items) => {
    const rows = await sql.confirm.all<{ ticketId: string; inReplyTo: string | null }>(db, {
      projectId: items.map((item) => item.project),
      ticketId: items.map((item) => item.ticketId),
      after: items.map((item) => item.after),
      upTo: items.map((item) => item.upTo),
    });
    const byTicket = new Map<string, ConfirmedReply[]>();
    for (const { ticketId, inReplyTo } of rows) {
      byTicket.set(ticketId, [...(byTicket.get(ticketId) ?? []), { inReplyTo }]);
    }
    return items.map(({ ticketId }) => {
      const confirmed = byTicket.get(ticketId) ?? [];
      // Two calls for one chat in one batch: the first one has confirmed what both have shown.
      byTicket.delete(ticketId);
      return confirmed;
    });
  },
  { lanes: 1 },
);

/**
 * The message that a client's id stands for in a chat: reserved by the first call, the same for every later one, on
 * every replica. `seq` is there once it is committed.
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

/** Removes some of the ids of all projects whose message has not come within a day. True when there may be more. */
export async function removeReserved(db: Db): Promise<boolean> {
  const row = await sql.sweep.one<{ seen: number }>(db);
  return row?.seen === SWEEP_PAGE;
}

/** How chats stand, in the order of the question; of one that is not there yet: empty and open. */
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

/** What was said in a chat after a place, oldest first, at most `limit`. */
// oxlint-disable-next-line max-params -- The caller gives the fence, the range and who asks, one value each.
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

/** A conversation of a visitor, as a list shows it. */
export interface ChatSummary {
  /** Its position in the list of tickets that was asked about; the first is 1. */
  place: number;
  createdAt: Date;
  /** Who wrote last. */
  author: "visitor" | ReplyAuthor;
  /** Beginning of the last text, or the name of a file. */
  text: string;
  markdown: boolean;
  /** True if there are replies that the visitor has not seen. */
  isUnread: boolean;
}

/** Those of these conversations in which something was said, the newest first. */
export const listChats = (db: Db, project: ProjectId, ticketIds: readonly string[]) =>
  sql.listChats.all<ChatSummary>(db, { project, ticketIds });

/**
 * Notes that the replies of some places were handed over, and returns those of which that was not known. Many calls
 * share a statement. Safe to repeat.
 */
export function confirm(db: Db, project: ProjectId, ticketId: string, positions: SeqRange): Promise<ConfirmedReply[]> {
  return confirmBatched(db, { project, ticketId, ...positions });
}

/** Notes up to where a visitor has read; what is not there yet is not read, and a place never goes back. */
export async function noteRead(db: Db, project: ProjectId, ticketId: string, seq: number): Promise<void> {
  await sql.readUpTo.run(db, { project, ticketId, seq });
}

/**
 * Keeps how satisfied a visitor is, in place of what was said before, with an event on the ticket. Returns whether the score
 * is another one than before; null when the conversation has no ticket yet.
 */
export async function rate(
  db: Db,
  project: ProjectId,
  ticketId: string,
  { score, comment }: { score: number; comment: string | null },
): Promise<{ hasNewScore: boolean } | null> {
  return sql.rate.one<{ hasNewScore: boolean }>(db, { project, ticketId, score, comment });
}

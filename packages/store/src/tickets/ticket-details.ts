import { TICKET_LIMITS } from "@svc/contracts";
import type {
  AttachmentRef,
  MessageMode,
  MessageState,
  ReplyAuthor,
  Source,
  StageMove,
  TicketPriority,
} from "@svc/contracts";
import type { Db } from "../db.ts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { asConfidence, asTicketRecord, RECORD_COLUMNS, RECORD_JOINS } from "./ticket-record.ts";
import type { TicketRecord } from "./ticket-record.ts";
import { statements } from "../sql.ts";

/** A customer's message, for display on a ticket. */
export interface MessageRecord {
  id: string;
  seq: number;
  userId: string | null;
  text: string;
  /** Time at which it was written, according to its channel. */
  timestampMs: number;
  attachments: AttachmentRef[];
  meta: Record<string, unknown>;
  mode: MessageMode | null;
  state: MessageState;
  attempts: number;
  failure: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

/** A reply, for display on a ticket, with files but not their contents. */
export interface ReplyRecord {
  id: string;
  seq: number;
  inReplyTo: string | null;
  author: ReplyAuthor;
  /** The operator or the agent who wrote it; null for the service, and where it was not recorded. */
  authorId: string | null;
  createdAt: Date;
  deliveredAt: Date | null;
  content:
    | { type: "message"; text: string; markdown: boolean; sources: Source[] }
    | { type: "attachment"; filename: string; mime: string; sizeBytes: number };
}

/** An event of a ticket. */
export interface EventRecord {
  id: number;
  at: Date;
  /** The project that worked on the ticket then; for an event that moved it to another project: that one. */
  project: ProjectId;
  actor: string;
  messageId: string | null;
  moves: StageMove[];
  data: Record<string, unknown>;
}

/** The waiting draft. */
export interface DraftRecord {
  text: string;
  markdown: boolean;
  sources: Source[];
  confidence: number | null;
  why: string;
  covers: string[];
  /** True if the customer has sent a message since, or if a message that it does not answer has failed. */
  isStale: boolean;
  createdAt: Date;
}

/** The newest entries of a ticket, each list oldest first; `more` shows which lists have older ones. */
export interface TicketContents {
  messages: MessageRecord[];
  replies: ReplyRecord[];
  events: EventRecord[];
  draft: DraftRecord | null;
  more: { messages: boolean; replies: boolean; events: boolean };
}

/** Positions in the chat, and id of the event, before which older entries are requested; null for none. */
export interface OlderThan {
  messages: number | null;
  replies: number | null;
  events: number | null;
}

/** Changed fields of a ticket; omitted ones are unchanged. */
export interface TicketFieldChange {
  subject?: string | undefined;
  priority?: TicketPriority | undefined;
  tags?: string[] | undefined;
}

type MessageRow = Omit<MessageRecord, "attachments" | "meta"> & {
  attachments: AttachmentRef[] | null;
  channelMeta: Record<string, unknown>;
};

interface ReplyRow extends Omit<ReplyRecord, "content"> {
  type: "message" | "attachment";
  text: string | null;
  markdown: boolean | null;
  sources: Source[] | null;
  filename: string | null;
  mime: string | null;
  sizeBytes: number | null;
}

type ReceivedRow = Pick<
  TicketRecord,
  "id" | "channelId" | "chatId" | "createdAt" | "updatedAt" | "userId" | "subject"
> & {
  projectName: string;
  metas: Record<string, unknown>[];
};

type EventRow = Omit<EventRecord, "project">;

const { shownMaxCount: MAX_COUNT, shownMaxBytes: MAX_BYTES } = TICKET_LIMITS;

interface CountResult {
  /** Number of rows, at most one more than are shown. */
  found: number;
  /** Sequence number or id, the sort key. */
  place: number;
  bytes: number;
  totalBytes: number;
  number: number;
}

const sql = statements("tickets/ticket-details", {
  maxCount: MAX_COUNT,
  maxRead: MAX_COUNT + 1,
  maxBytes: MAX_BYTES,
  recordColumns: RECORD_COLUMNS,
  recordJoins: RECORD_JOINS,
});

/** Returns the rows to show, oldest first, and whether there are older ones. */
function shown<Row extends object>(rows: (Row & CountResult)[]): { rows: Row[]; hasMore: boolean } {
  const [newestRow] = rows;
  return { rows: rows.toReversed(), hasMore: newestRow !== undefined && rows.length < newestRow.found };
}

/** Returns an event without the counting columns. */
function asEvent({ id, at, actor, messageId, moves, data }: EventRow, project: ProjectId): EventRecord {
  return { id, at, project, actor, messageId, moves, data };
}

async function findReceived(on: Db, project: ProjectId, ticketId: string): Promise<TicketRecord | null> {
  const row = await sql.findReceived.one<ReceivedRow>(on, { project, ticketId });
  if (row === null) return null;
  const { projectName: homeProjectName, metas, ...ticket } = row;
  return {
    ...ticket,
    homeProject: project,
    homeProjectName,
    project,
    customer: null,
    status: "open",
    stage: "received",
    priority: "normal",
    assignee: null,
    isSnoozed: false,
    snoozedUntil: null,
    deadline: null,
    agentId: null,
    confidence: null,
    language: null,
    tags: [],
    channelMeta: Object.fromEntries(metas.flatMap((meta) => Object.entries(meta))),
    version: 0,
    firstReplyAt: null,
    resolvedAt: null,
  };
}

async function findOpenedIn(on: Db, project: ProjectId, ticketId: string): Promise<TicketRecord | null> {
  const row = await sql.findOpened.one<TicketRecord>(on, { project, ticketId });
  return row === null ? null : asTicketRecord(row);
}

/** Returns the projects that worked on a ticket over time. */
async function readProjects(on: Db, home: ProjectId, ticketId: string): Promise<(eventId: number) => ProjectId> {
  const changes = await sql.listProjects.all(on, { home, ticketId });
  return (eventId) => asProjectId(changes.findLast((change) => change.id <= eventId)?.projectId ?? home);
}

/** Reads the messages, replies and events of a ticket. Its rows belong to its home project, which its record names. */
async function readContents(on: Db, home: ProjectId, ticketId: string): Promise<TicketContents> {
  const values = { home, ticketId, before: null };
  const messages = shown<MessageRow>(await sql.listMessages.all<MessageRow & CountResult>(on, values));
  const replies = shown<ReplyRow>(await sql.listReplies.all<ReplyRow & CountResult>(on, values));
  const events = shown<EventRow>(await sql.listEvents.all<EventRow & CountResult>(on, values));
  const draft = await sql.findDraft.one<DraftRecord>(on, { home, ticketId });
  const projectAt = await readProjects(on, home, ticketId);
  return {
    messages: messages.rows.map(asMessage),
    replies: replies.rows.map(asReply),
    events: events.rows.map((row) => asEvent(row, projectAt(row.id))),
    draft: draft === null ? null : { ...draft, confidence: asConfidence(draft.confidence) },
    more: { messages: messages.hasMore, replies: replies.hasMore, events: events.hasMore },
  };
}

/** Returns a ticket that a project works on, or null. */
export const findOpened = (db: Db, project: ProjectId, ticketId: string) => findOpenedIn(db, project, ticketId);

/** As `findOpened`, including a ticket that was accepted in this project and has not been opened yet, in version 0. */
export async function find(db: Db, project: ProjectId, ticketId: string): Promise<TicketRecord | null> {
  // The last look-up is for a ticket that was opened between the first two.
  return (
    (await findOpenedIn(db, project, ticketId)) ??
    (await findReceived(db, project, ticketId)) ??
    (await findOpenedIn(db, project, ticketId))
  );
}

/**
 * Returns the ticket of `find` with its messages, replies and events, in one snapshot, since decisions name the version
 * that was displayed. Locks nothing.
 */
export function read(
  db: Db,
  project: ProjectId,
  ticketId: string,
): Promise<{ ticket: TicketRecord; contents: TicketContents } | null> {
  return db.transaction(async (tx) => {
    await sql.read.run(tx);
    const ticket = (await findOpenedIn(tx, project, ticketId)) ?? (await findReceived(tx, project, ticketId));
    if (ticket === null) return null;
    return { ticket, contents: await readContents(tx, ticket.homeProject, ticket.id) };
  });
}

/**
 * Returns older entries of a ticket before these positions, the newest of them, sorted oldest first as in `read`; null
 * if the project has no such ticket.
 */
export async function readOlder(
  db: Db,
  project: ProjectId,
  ticketId: string,
  before: OlderThan,
): Promise<Omit<TicketContents, "draft"> | null> {
  const ticket = await findOpenedIn(db, project, ticketId);
  if (ticket === null) return null;
  const home = ticket.homeProject;
  // A list that is not requested starts before the first position.
  const values = (position: number | null) => ({ home, ticketId, before: position ?? 0 });
  const messages = shown<MessageRow>(await sql.listMessages.all<MessageRow & CountResult>(db, values(before.messages)));
  const replies = shown<ReplyRow>(await sql.listReplies.all<ReplyRow & CountResult>(db, values(before.replies)));
  const events = shown<EventRow>(await sql.listEvents.all<EventRow & CountResult>(db, values(before.events)));
  const projectAt = await readProjects(db, home, ticketId);
  return {
    messages: messages.rows.map(asMessage),
    replies: replies.rows.map(asReply),
    events: events.rows.map((row) => asEvent(row, projectAt(row.id))),
    more: { messages: messages.hasMore, replies: replies.hasMore, events: events.hasMore },
  };
}

/**
 * Changes fields of a ticket, raises its version and records who did it, in one statement; has no effect if the fields
 * have these values. Null if the project has no such ticket or it has not been opened yet, or if `versions` is given
 * without the current one. Locks the ticket's row.
 */
export async function update(
  db: Db,
  project: ProjectId,
  ticketId: string,
  { change, versions, actor }: { change: TicketFieldChange; versions: readonly number[] | null; actor: string },
): Promise<TicketRecord | null> {
  const row = await sql.update.one<TicketRecord>(db, {
    project,
    ticketId,
    versions,
    subject: change.subject,
    priority: change.priority,
    tags: change.tags,
    actor,
    data: JSON.stringify({ decision: "change", change }),
  });
  return row === null ? null : asTicketRecord(row);
}

function asMessage(row: MessageRow): MessageRecord {
  return {
    id: row.id,
    seq: row.seq,
    userId: row.userId,
    text: row.text,
    timestampMs: row.timestampMs,
    attachments: row.attachments ?? [],
    meta: row.channelMeta,
    mode: row.mode,
    state: row.state,
    attempts: row.attempts,
    failure: row.failure,
    createdAt: row.createdAt,
    finishedAt: row.finishedAt,
  };
}

function asReply(row: ReplyRow): ReplyRecord {
  return {
    id: row.id,
    seq: row.seq,
    inReplyTo: row.inReplyTo,
    author: row.author,
    authorId: row.authorId,
    createdAt: row.createdAt,
    deliveredAt: row.deliveredAt,
    content:
      row.type === "message"
        ? { type: "message", text: row.text ?? "", markdown: row.markdown ?? false, sources: row.sources ?? [] }
        : {
            type: "attachment",
            filename: row.filename ?? "",
            mime: row.mime ?? "",
            sizeBytes: row.sizeBytes ?? 0,
          },
  };
}

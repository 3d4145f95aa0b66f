import type { MessageState, ReplyAuthor, Source } from "@svc/contracts";
import { batched } from "../context.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { IS_ALIVE } from "../platform/processes.ts";
import { columnsOf, statements } from "../sql.ts";
import type { Context } from "../context.ts";

/** Position and author of a reply item. */
export interface ReplyPosition {
  id: string;
  ticketId: string;
  seq: number;
  inReplyTo: string | null;
  author: ReplyAuthor;
  createdAt: Date;
}

/** A stored reply item. */
export type StoredReply =
  | (ReplyPosition & { type: "message"; text: string; markdown: boolean; sources: Source[] | null })
  | (ReplyPosition & { type: "attachment"; filename: string; mime: string; content: Buffer });

/** State of a waiting sync call: that of its message, and the replies to it. */
export interface CallOutcome {
  state: MessageState;
  /** The later message whose reply, after a person's decision, also answers this one; null for all others. */
  coveredBy: string | null;
  replies: StoredReply[];
}

/** A response of the drain. */
export interface DrainPage {
  replies: StoredReply[];
  /** Sequence number of the last reply in this response, to pass as `after`. */
  cursor: number;
  /** True if more replies are buffered than fit into this response. */
  more: boolean;
}

/** Maximum size of a drain response, and retention of replies in the buffer in days. */
export interface DrainLimits {
  maxReplies: number;
  maxBytes: number;
  keptDays: number;
}

/** A row of `REPLY_COLUMNS`. */
export interface ReplyRow extends ReplyPosition {
  type: "message" | "attachment";
  text: string | null;
  markdown: boolean | null;
  sources: Source[] | null;
  filename: string | null;
  mime: string | null;
  content: Buffer | null;
}

/** The columns of a reply item, from replies `r`. */
export const REPLY_COLUMNS =
  "r.id, r.ticket_id, r.seq, r.in_reply_to, r.author, r.created_at, r.type, r.text, r.markdown, r.sources, r.filename, r.mime, r.content";

/**
 * No delivery takes this long: a response without progress is aborted much earlier. Claimed replies that were never
 * released, which should not happen, are free again after this time.
 */
const TAKEN_MINUTES = 30;

/** SQL that is true if no call waits for message `m`: it has ended, or its process has crashed. */
export const IS_CALL_OVER = `(m.call_ended_at IS NOT NULL OR NOT EXISTS (
  SELECT 1 FROM instances i WHERE i.id = m.call_instance AND ${IS_ALIVE}))`;

/** SQL that is true while a reply's retention in the buffer has not ended: `days` is an SQL expression. */
const isKept = (days: string) => `coalesce(r.undeliverable_at, r.created_at) > now() - make_interval(days => ${days})`;

/**
 * Deliveries to callers are recorded at once; while one statement is running, further ones are batched. Replies of
 * different batches are never locked at the same time.
 */
const NOTES = { lanes: 1, maxItems: 1_000 };

/** The message whose committed reply also answers message `m`: NULL if `m` has its own reply. */
export const COVERED_BY = "CASE WHEN m.state = 'answered' AND m.covered_by <> m.id THEN m.covered_by END";

const sql = statements("messages/replies", {
  isAlive: IS_ALIVE,
  takenMinutes: TAKEN_MINUTES,
  isKept: isKept(":kept_days::integer"),
  isKeptFor: isKept("i.kept_days"),
});

interface CallRef {
  project: ProjectId;
  messageId: string;
}

interface ReadItem extends CallRef {
  instance: string;
}

const readForCallBatched = batched<Context, ReadItem, CallOutcome | null>(async (context: Context, items) => {
  const rows = await sql.readForCall.all<
    ReplyRow & {
      messageId: string;
      projectId: string;
      instance: string;
      state: MessageState;
      coveredBy: string | null;
    }
  >(context.hot, {
    ...columnsOf(items, "project", "messageId", "instance"),
  });
  const outcomes = new Map<string, CallOutcome>();
  for (const row of rows) {
    const key = `${row.projectId}/${row.messageId}/${row.instance}`;
    const outcome = outcomes.get(key) ?? { state: row.state, coveredBy: row.coveredBy, replies: [] };
    if (row.id !== null) outcome.replies.push(asReply(row));
    outcomes.set(key, outcome);
  }
  return items.map((item) => outcomes.get(`${item.project}/${item.messageId}/${item.instance}`) ?? null);
});

interface ReplyRef {
  project: ProjectId;
  id: string;
}

const confirmBatched = batched<Context, ReplyRef, void>(async (context: Context, items) => {
  await sql.confirm.run(context.notes, {
    projectId: items.map((item) => item.project),
    id: items.map((item) => item.id),
  });
  return items.map(() => undefined);
}, NOTES);

interface EndItem extends CallRef {
  delivered: string[];
}

const runEndCalls = async (context: Context, items: EndItem[]): Promise<void[]> => {
  const delivered = items.flatMap(({ project, delivered: ids }) => ids.map((id) => ({ project, id })));
  await sql.endCall.run(context.notes, {
    projectId: items.map((item) => item.project),
    messageId: items.map((item) => item.messageId),
    projectId2: delivered.map((reply) => reply.project),
    id: delivered.map((reply) => reply.id),
  });
  return items.map(() => undefined);
};

const endCallBatched = batched(runEndCalls, NOTES);

interface ChatPosition {
  project: ProjectId;
  ticketId: string;
  after: number;
}

const hasUndelivered = batched<Context, ChatPosition, boolean>(async (context: Context, items) => {
  const rows = await sql.haveUndelivered.all(context.hot, {
    ...columnsOf(items, "ticketId", "after"),
    projectId: items.map((item) => item.project),
  });
  const found = new Set(rows.map((row) => row.place));
  return items.map((_item, index) => found.has(index + 1));
});

interface BufferReader extends DrainLimits {
  projectId: ProjectId;
  ticketId: string;
  instance: string;
  takeId: string;
}

const claimFromBufferBatched = batched<Context, BufferReader, DrainPage>(
  async (context, items) => {
    const rows = await sql.claimFromBuffer.all<ReplyRow & { candidates: number; firstHidden: number }>(
      context.hot,
      columnsOf(items, "projectId", "ticketId", "instance", "takeId", "keptDays", "maxReplies", "maxBytes"),
    );
    const chats = new Map(items.map(({ ticketId }) => [ticketId, [] as typeof rows]));
    for (const row of rows) chats.get(row.ticketId)?.push(row);
    return items.map(({ ticketId }) => asPage(chats.get(ticketId) ?? [], 0));
  },
  // Rows that one reader of a statement has locked are not skipped for another one. Few share a statement: each may read
  // megabytes of files, which the others wait for.
  { keyOf: ({ ticketId }) => ticketId, isUnique: true, maxItems: 4 },
);

function asPage(rows: (ReplyRow & { candidates: number; firstHidden?: number })[], after: number): DrainPage {
  const replies = rows.map(asReply);
  const last = replies.at(-1)?.seq ?? after;
  return {
    replies,
    cursor: Math.min(last, (rows[0]?.firstHidden ?? Number.MAX_SAFE_INTEGER) - 1),
    more: (rows[0]?.candidates ?? 0) > rows.length,
  };
}

/**
 * Returns the state of a message and the replies to it, for the call of this process that waits for them; null if there
 * is no such message. They stay out of the buffer while the process of the call runs, until `endCall` records its
 * result. A call that another process has replaced finds no replies. Concurrent calls share a read.
 */
export const readForCall = (
  context: Context,
  project: ProjectId,
  messageId: string,
  instance: string,
): Promise<CallOutcome | null> => readForCallBatched(context, { project, messageId, instance });

/**
 * Moves a sync call whose caller has returned to the process of its new call: later replies belong to that one.
 * Buffered replies remain in the buffer until `claimForCall` claims them. A call that has not ended after all (its
 * process was considered crashed for a moment) is unchanged.
 */
export const reopenCall = (context: Context, project: ProjectId, messageId: string, instance: string): Promise<void> =>
  sql.reopenCall.exec(context.hot, { project, messageId, instance });

/**
 * Returns the state of a message that was sent before (`received` while another call waits for it), and claims the
 * replies to it that were not delivered, for this call; repeated with the same id, it returns them again.
 * `endAnsweredCall`, or `endCall` and `release`, must follow. Null if there is no such message.
 */
// oxlint-disable-next-line max-params -- Fence, range and caller are one value each.
export async function claimForCall(
  context: Context,
  project: ProjectId,
  messageId: string,
  instance: string,
  takeId = newId(),
): Promise<CallOutcome | null> {
  const rows = await sql.claimForCall.all<ReplyRow & { state: MessageState; coveredBy: string | null }>(context.hot, {
    project,
    messageId,
    instance,
    takeId,
  });
  const [first] = rows;
  if (first === undefined) return null;
  return {
    state: first.state,
    coveredBy: first.coveredBy,
    replies: rows.filter((row) => row.id !== null).map(asReply),
  };
}

/**
 * Returns the replies that the call of a message has delivered, as far as it knows, for a caller who returns and
 * reports that it did not receive them; without those that a reader of the drain has received. Null while one is being
 * delivered: the result is known a moment later.
 */
export async function listDelivered(
  context: Context,
  project: ProjectId,
  messageId: string,
): Promise<StoredReply[] | null> {
  const rows = await sql.listDelivered.all<ReplyRow & { isDelivered: boolean }>(context.hot, { project, messageId });
  return rows.every((row) => row.isDelivered) ? rows.map(asReply) : null;
}

/** Ends a sync call without a response: its replies are in the buffer when this resolves. Safe to repeat. */
export const endCall = (context: Context, project: ProjectId, messageId: string): Promise<void> =>
  endCallBatched(context, { project, messageId, delivered: [] });

/** Ends a sync call whose caller has these replies; others go to the buffer. */
export const endAnsweredCall = (
  context: Context,
  project: ProjectId,
  messageId: string,
  delivered: string[],
): Promise<void> => endCallBatched(context, { project, messageId, delivered });

/**
 * Ends a sync call that resumed an earlier one, and whose caller has these replies. Replies that it claimed from the
 * buffer count as delivered by it: `listDelivered` finds them. Safe to repeat.
 */
export const endResumedCall = (
  context: Context,
  project: ProjectId,
  messageId: string,
  delivered: string[],
): Promise<void> => sql.endResumedCall.exec(context.hot, { project, messageId, delivered });

/**
 * Claims the oldest buffered replies of a chat; `confirm` or `release` must follow. Readers of several chats share a
 * statement.
 */
// oxlint-disable-next-line max-params -- Fence, range and caller are one value each.
export async function claimFromBuffer(
  context: Context,
  project: ProjectId,
  ticketId: string,
  instance: string,
  limits: DrainLimits,
  takeId = newId(),
): Promise<DrainPage> {
  if (!(await hasUndelivered(context, { project, ticketId, after: 0 }))) return asPage([], 0);
  return await claimFromBufferBatched(context, { projectId: project, ticketId, instance, takeId, ...limits });
}

/** Reads the buffered replies of a chat after a sequence number, without claiming them. */
// oxlint-disable-next-line max-params -- Fence, range and caller are one value each.
export async function readBuffer(
  context: Context,
  project: ProjectId,
  ticketId: string,
  after: number,
  limits: DrainLimits,
): Promise<DrainPage> {
  if (!(await hasUndelivered(context, { project, ticketId, after }))) return asPage([], after);
  const rows = await sql.readBuffer.all<
    ReplyRow & { candidates: number; sizeBytes: number; place: number; total: number }
  >(context.hot, { ...limits, project, ticketId, after });
  return asPage(rows, after);
}

/**
 * Acknowledges all buffered replies up to this sequence number: they leave the buffer. Returns false, without changes,
 * if the chat has not reached it; true for an unknown chat.
 */
export async function acknowledge(
  context: Context,
  project: ProjectId,
  ticketId: string,
  upTo: number,
): Promise<boolean> {
  const row = await sql.acknowledge.one(context.hot, { project, ticketId, upTo });
  return row?.isKnown ?? true;
}

/** Records that the receiver has this reply. Concurrent calls share a statement. Safe to repeat. */
export const confirm = (context: Context, project: ProjectId, id: string): Promise<void> =>
  confirmBatched(context, { project, id });

/**
 * Releases replies that were claimed with this id and not delivered, also if the result of the claim was lost. Safe to
 * repeat.
 */
export const release = (context: Context, project: ProjectId, ticketId: string, takeId: string): Promise<void> =>
  sql.release.exec(context.hot, { project, ticketId, takeId });

/** Converts a row to a reply item. */
export function asReply(row: ReplyRow): StoredReply {
  const { id, ticketId, seq, inReplyTo, author, createdAt } = row;
  const position = { id, ticketId, seq, inReplyTo, author, createdAt };
  return row.type === "message"
    ? { ...position, type: "message", text: row.text ?? "", markdown: row.markdown ?? false, sources: row.sources }
    : {
        ...position,
        type: "attachment",
        filename: row.filename ?? "",
        mime: row.mime ?? "",
        content: row.content ?? Buffer.alloc(0),
      };
}

import type { Db } from "../db.ts";
import { eraseGapsOfTickets } from "../knowledge/gaps.ts";
import { lockCustomers } from "./customers.ts";
import { CUSTOMERS, HOOK_BODIES, CHANNEL_UPDATES, TABLES_OF_PROJECTS, TICKET_ROWS } from "./personal-data-map.ts";
import type { BodyOwner, HeldRows } from "./personal-data-map.ts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { retryOnDeadlock } from "../db.ts";
import { returnTickets } from "../platform/projects.ts";
import { removeDeliveries } from "../platform/webhooks.ts";
import { statements } from "../sql.ts";

/** Numbers of rows, by kind. */
export type HeldCounts = Record<string, number>;

/** Rows of one kind, in the form of an export. */
export interface HeldRecords {
  kind: string;
  records: Record<string, unknown>[];
}

/** A project that is due for its retention check. */
export interface DuePurge {
  project: ProjectId;
  /** Name of the project. */
  name: string;
  retentionDays: number;
}

/** Chats per step, to keep statements short. */
const PURGE_PAGE = 500;
/** Messages per query of an export. */
const MESSAGE_SLICE = 500;

/** Maximum per step of removing a project. */
const REMOVAL = { tickets: 20, rows: 500 } as const;
const NOTHING: HeldCounts = Object.fromEntries(TICKET_ROWS.map(({ kind }) => [kind, 0]));

const sql = statements("people/erasures", {
  messageSlice: MESSAGE_SLICE,
  purgePage: PURGE_PAGE,
  removalTickets: REMOVAL.tickets,
});

/** Adds the counts of two erasures. */
export const addCounts = (one: HeldCounts, other: HeldCounts): HeldCounts =>
  Object.fromEntries(TICKET_ROWS.map(({ kind }) => [kind, (one[kind] ?? 0) + (other[kind] ?? 0)]));

/** A row in the form of an export, and the position after which the next page begins. */
type RowWithPosition = Record<string, unknown> & { place_: string };

function withoutPosition(row: RowWithPosition): Record<string, unknown> {
  const { place_: _, ...record } = row;
  return record;
}

async function messagesOf(db: Db, ticketId: string): Promise<string[]> {
  const rows = await sql.listMessages.all(db, { ticketId });
  return rows.map(({ id }) => id);
}

/**
 * Erases a conversation under the lock of its chat, so that a worker loses its lease. Pending callbacks are locked
 * first, since the callback process locks the chat last; callbacks that were added in the meantime are locked once no
 * more can be added. Returns null if the project has no such chat, or if it has not been idle for `ifIdleDays`.
 */
async function eraseTicket(
  tx: Db,
  project: ProjectId,
  ticketId: string,
  { keepsPosition, ifIdleDays = null }: { keepsPosition: boolean; ifIdleDays?: number | null },
): Promise<HeldCounts | null> {
  await sql.lockPendingDeliveries.run(tx, { ticketId });
  const chat = await sql.lockChat.one(tx, { project, ticketId });
  if (chat === null) return null;

  const ticket = await sql.lockTicket.one(tx, { ticketId });
  if (ifIdleDays !== null) {
    const idle = await sql.findIdle.one(tx, { ticketId, retentionDays: ifIdleDays });
    if (idle === null) return null;
  }
  await lockCustomers(tx, project);
  const messages = await messagesOf(tx, ticketId);
  const learned = await sql.listLearners.all(tx, { ticketId });
  const counts: HeldCounts = { ...NOTHING, questions: await eraseQuestions(tx, ticketId) };
  for (const { kind, table, where, of } of TICKET_ROWS) {
    if (kind === "eventAttempts") {
      await sql.lockDeliveries.run(tx, { messages, ticketId });
    }
    const [gone] = await tx.query<{ count: number }>(
      `WITH ids AS (SELECT $1::uuid, $2::uuid[]), gone AS (DELETE FROM ${table} x WHERE ${where} RETURNING 1)
       SELECT count(*) AS count FROM gone`,
      [ticketId, of === "messages" ? messages : []],
    );
    counts[kind] = (counts[kind] ?? 0) + (gone?.count ?? 0);
  }
  await sql.deleteOutbox.run(tx, { ticketId });
  if (keepsPosition) {
    await sql.emptyChat.run(tx, { ticketId, ticketVersion: ticket?.version });
  } else {
    await sql.deleteChat.run(tx, { ticketId });
  }
  await sql.countErasure.run(tx, { id: learned.map(({ projectId }) => projectId) });
  return counts;
}

/**
 * Removes the conversation's questions from the gaps of every project that recorded them; returns how many messages.
 */
async function eraseQuestions(tx: Db, ticketId: string): Promise<number> {
  const projects = await sql.listAskedProjects.all(tx, { ticketId });
  let count = 0;
  for (const { projectId: project } of projects) {
    count += await eraseGapsOfTickets(tx, asProjectId(project), [ticketId]);
  }
  return count;
}

/** Yields the ids of a conversation's messages by sequence number, in batches. */
async function* readMessageIds(db: Db, ticketId: string): AsyncGenerator<string[]> {
  let after = 0;
  for (;;) {
    const rows = await sql.readMessageIds.all(db, { ticketId, after });
    const last = rows.at(-1);
    if (last !== undefined) yield rows.map(({ id }) => id);
    if (last === undefined || rows.length < MESSAGE_SLICE) return;
    after = last.seq;
  }
}

/** Yields all rows of one kind, page by page: each page continues after the position of the last row. */
async function* readRows(
  db: Db,
  { kind, table, where, place: position, placeType, shown, pageRows }: HeldRows,
  id: string,
  ids: readonly string[],
): AsyncGenerator<HeldRecords> {
  // Attachments are replies too, and are erased before them.
  const filter = kind === "replies" ? `${where} AND x.type <> 'attachment'` : where;
  let after: string | null = null;
  do {
    const rows: RowWithPosition[] = await db.query(
      `WITH ids AS (SELECT $1::uuid, $2::uuid[])
       SELECT ${shown}, (${position})::text AS place_ FROM ${table} x
       WHERE ${filter} AND ($3::${placeType} IS NULL OR ${position} > $3::${placeType})
       ORDER BY ${position} LIMIT ${pageRows}`,
      [id, ids, after],
    );
    if (rows.length > 0) yield { kind, records: rows.map(withoutPosition) };
    after = rows.length < pageRows ? null : (rows.at(-1)?.place_ ?? null);
  } while (after !== null);
}

/**
 * Deletes old hook bodies, with or without a message: those without one belong to no conversation. A hook has at most
 * twenty bodies.
 */
const purgeBodies = (db: Db, project: ProjectId, retentionDays: number): Promise<void> =>
  sql.purgeBodies.exec(db, { project, retentionDays });

/** Deletes old dead updates of a channel, which may belong to no conversation. */
const purgeUpdates = (db: Db, project: ProjectId, retentionDays: number): Promise<void> =>
  sql.purgeUpdates.exec(db, { project, retentionDays });

/**
 * Deletes old model calls that belong to no conversation; others are deleted with theirs. Locks only what it deletes.
 */
const purgeModelCalls = (db: Db, project: ProjectId, retentionDays: number): Promise<void> =>
  sql.purgeModelCalls.exec(db, { project, retentionDays });

/** Deletes saved views that filter by a user who has no tickets. There are few. */
const purgeViews = (db: Db, project: ProjectId): Promise<void> => sql.purgeViews.exec(db, { project });

/** Returns the conversations that came in to this project and to which this user wrote, by the sender's user id. */
export async function findTicketsOfUser(db: Db, project: ProjectId, userId: string): Promise<string[]> {
  const rows = await sql.findTicketsOfUser.all(db, { project, userId });
  return rows.map((row) => row.ticketId);
}

/** Returns those of these conversations that came in to this project. */
export async function findTickets(db: Db, project: ProjectId, ticketIds: string[]): Promise<string[]> {
  const rows = await sql.findTickets.all(db, { project, ticketIds });
  return rows.map((row) => row.ticketId);
}

/**
 * Erases a conversation; a later message creates it again, with the next sequence numbers. Returns the counts, null if
 * the project has no such conversation.
 */
export const erase = (db: Db, project: ProjectId, ticketId: string): Promise<HeldCounts | null> =>
  retryOnDeadlock(db, (tx) => eraseTicket(tx, project, ticketId, { keepsPosition: true }));

/** Yields all data of a conversation, kind by kind, in batches of rows. */
export async function* read(db: Db, project: ProjectId, ticketId: string): AsyncGenerator<HeldRecords> {
  if (!(await sql.findChat.any(db, { project, ticketId }))) return;
  for (const rows of TICKET_ROWS) {
    if (rows.isShownBeside) continue;
    if (rows.of === "ticket") yield* readRows(db, rows, ticketId, []);
    else for await (const messageIds of readMessageIds(db, ticketId)) yield* readRows(db, rows, ticketId, messageIds);
  }
}

/** Returns the conversations of a customer of this project. */
export async function findTicketsOfCustomer(db: Db, project: ProjectId, id: string): Promise<string[]> {
  const rows = await sql.listCustomerTickets.all(db, { project, id });
  return rows.map((row) => row.ticketId);
}

async function findCustomers(
  db: Db,
  project: ProjectId,
  owner: Pick<BodyOwner, "userIds" | "ticketIds">,
): Promise<string[]> {
  const rows = await sql.findCustomers.all(db, { ...owner, project });
  return rows.map((row) => row.customerId);
}

/** Deletes the customers of users and conversations; returns how many. Remaining tickets get new customers. */
const eraseCustomers = (db: Db, project: ProjectId, owner: Pick<BodyOwner, "userIds" | "ticketIds">): Promise<number> =>
  retryOnDeadlock(db, async (tx) => {
    await lockCustomers(tx, project);
    const ids = await findCustomers(tx, project, owner);
    return ids.length === 0 ? 0 : sql.deleteCustomers.run(tx, { project, ids, ticketIds: owner.ticketIds });
  });

/**
 * Yields the customers of users and conversations, and the hook bodies and channel updates that contain them but belong
 * to none of these conversations, as `read` does. Each hook has at most twenty bodies.
 */
export async function* readLoose(
  db: Db,
  project: ProjectId,
  { userIds, chatId, updatesChatId, ticketIds }: BodyOwner,
): AsyncGenerator<HeldRecords> {
  const customers = await findCustomers(db, project, { userIds, ticketIds });
  yield* readRows(db, { ...CUSTOMERS, where: "x.project_id = $1 AND x.id = ANY ($2::uuid[])" }, project, customers);
  const rows = await sql.findLooseBodies.all(db, { project, userIds, chatId, ticketIds });
  const ids = rows.map(({ id }) => id);
  yield* readRows(db, { ...HOOK_BODIES, where: "x.project_id = $1 AND x.id = ANY ($2::uuid[])" }, project, ids);
  const updates = await sql.findLooseUpdates.all(db, {
    project,
    userIds,
    updatesChatId,
    ticketIds,
  });
  yield* readRows(
    db,
    { ...CHANNEL_UPDATES, where: "x.project_id = $1 AND x.message_id = ANY ($2::uuid[])" },
    project,
    updates.map((row) => row.messageId),
  );
}

/**
 * Erases the rows of `readLoose`, so that they cannot be retried, and saved views that filter by this user. Call it
 * before the conversations are erased, whose chats it needs.
 */
export async function eraseLoose(
  db: Db,
  project: ProjectId,
  { userIds, chatId, updatesChatId, ticketIds }: BodyOwner,
): Promise<HeldCounts> {
  const hookBodies = await sql.deleteLooseBodies.run(db, { project, userIds, chatId, ticketIds });
  const messengerUpdates = await sql.deleteLooseUpdates.run(db, { project, userIds, updatesChatId, ticketIds });
  await sql.deleteViewsOfUser.run(db, { project, userIds });
  const customers = await eraseCustomers(db, project, { userIds, ticketIds });
  return { ...NOTHING, hookBodies, messengerUpdates, customers };
}

/**
 * Claims the next project for its retention check; null if none is due. Each project is checked once an hour, by any
 * replica.
 */
export async function claimDuePurge(db: Db): Promise<DuePurge | null> {
  const row = await sql.claimDuePurge.one<{ id: string; name: string; retentionDays: number }>(db);
  return row === null ? null : { project: asProjectId(row.id), name: row.name, retentionDays: row.retentionDays };
}

/**
 * Checks some of a project's chats, after `after`, and erases conversations that were idle for the retention period;
 * those that wait for a person are not erased. Returns how many, and where to continue; null at the end. The first step
 * also deletes equally old hook bodies, with or without a message, dead channel updates, and model calls that belong to
 * no conversation. The last step deletes saved views of users without remaining data.
 */
export async function purgeIdle(
  db: Db,
  { project, retentionDays }: Omit<DuePurge, "name">,
  after: string | null,
): Promise<{ erased: number; next: string | null }> {
  if (after === null) {
    await purgeBodies(db, project, retentionDays);
    await purgeUpdates(db, project, retentionDays);
    await purgeModelCalls(db, project, retentionDays);
  }
  const chats = await sql.listChats.all(db, { project, retentionDays, after });
  let erased = 0;
  for (const { ticketId } of chats.filter(({ isIdle }) => isIdle)) {
    const counts = await retryOnDeadlock(db, (tx) =>
      eraseTicket(tx, project, ticketId, { keepsPosition: true, ifIdleDays: retentionDays }),
    );
    if (counts !== null) erased++;
  }
  if (chats.length < PURGE_PAGE) await purgeViews(db, project);
  return { erased, next: chats.length < PURGE_PAGE ? null : (chats.at(-1)?.ticketId ?? null) };
}

/** Removes a part of the data of deleted projects. Returns true if there may be more to remove. */
export const purgeDeleted = (db: Db): Promise<boolean> =>
  retryOnDeadlock(db, async (tx) => {
    const deleted = await sql.takeDeletedProject.one(tx);
    if (deleted === null) return false;
    const project = asProjectId(deleted.id);
    // First: until they are gone, those that are due count as failed.
    if (await removeDeliveries(tx, project, null)) return true;
    const chats = await sql.listChatsOfDeleted.all(tx, { project });
    for (const { ticketId } of chats) await eraseTicket(tx, project, ticketId, { keepsPosition: false });
    if (chats.length > 0) return true;
    if (await returnTickets(tx, project)) return true;
    for (const [table, goesWith] of Object.entries(TABLES_OF_PROJECTS)) {
      if (goesWith !== "itself") continue;
      const gone = await tx.query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
           SELECT ctid FROM ${table} WHERE project_id = $1 LIMIT ${REMOVAL.rows}
         )) RETURNING 1`,
        [project],
      );
      if (gone.length > 0) return true;
    }

    await sql.deleteKbs.run(tx, { project });
    const count = await sql.deleteProject.run(tx, { project, isSettled: deleted.isSettled });
    if (count > 0) {
      await sql.deleteStoredBytes.run(tx, { project });
      return true;
    }
    await sql.repeatLater.run(tx, { project });
    return true;
  });

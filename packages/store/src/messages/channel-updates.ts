import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { columnsOf, statements } from "../sql.ts";

/** A received update, with the facts that are needed before it is parsed. */
export interface NewChannelUpdate {
  updateId: number;
  /** Conversation, chat and author; null for an update that belongs to none. Such an update needs no reply. */
  origin: { ticketId: string; chatId: string; userId: string | null } | null;
  /** The whole update, as JSON. */
  body: string;
  /** Beginning of its text. */
  excerpt: string;
  /** Id of its album, or null. */
  albumId: string | null;
}

/** The next update of a conversation. */
export interface WaitingUpdate {
  project: ProjectId;
  botId: number;
  updateId: number;
  ticketId: string;
  /** Id of the message that it is turned into. */
  messageId: string;
  chatId: string;
  body: string;
  isAlbum: boolean;
  /** Number of failed attempts. */
  tries: number;
  receivedAt: Date;
}

/** Result of an update; see the migration. */
export type FinishedState = "accepted" | "answered" | "ignored";

/** A message that was created from an update. */
export interface SentMessage {
  text: string;
  channelMeta: Record<string, unknown>;
}

/** An update after five failed attempts. */
export interface DeadUpdate {
  messageId: string;
  ticketId: string;
  chatId: string;
  text: string;
  failure: string;
  failedAt: Date;
}

type WaitingRow = Omit<WaitingUpdate, "project" | "isAlbum"> & { projectId: string; albumId: string | null };

const asWaiting = ({ projectId, albumId, ...update }: WaitingRow): WaitingUpdate => ({
  ...update,
  project: asProjectId(projectId),
  isAlbum: albumId !== null,
});

const PRUNE_PAGE = 1_000;

const sql = statements("messages/channel-updates", {
  prunePage: PRUNE_PAGE,
});

/** Commits updates; existing ones are unchanged. Returns how many were new. */
export async function insertMany(
  db: Db,
  project: ProjectId,
  botId: number,
  updates: readonly NewChannelUpdate[],
): Promise<number> {
  if (updates.length === 0) return 0;
  // A statement cannot insert an id twice.
  const unique = [...new Map(updates.map((update) => [update.updateId, update])).values()];
  return sql.insert.run(db, {
    ...columnsOf(unique, "updateId", "body", "excerpt", "albumId"),
    botId,
    project,
    ticketId: unique.map(({ origin }) => origin?.ticketId ?? null),
    messageId: unique.map(() => newId()),
    chatId: unique.map(({ origin }) => origin?.chatId ?? null),
    userId: unique.map(({ origin }) => origin?.userId ?? null),
  });
}

/** Returns the oldest update of each conversation that is due: at most `limit`, except those of busy conversations. */
export async function listHeads(
  db: Db,
  botId: number,
  busyTicketIds: readonly string[],
  limit: number,
): Promise<WaitingUpdate[]> {
  const rows = await sql.listHeads.all<WaitingRow>(db, { botId, busyTicketIds, limit });
  return rows.map(asWaiting);
}

/**
 * Returns all parts of an album in order, including the first. The parts that have arrived by the first call belong
 * together from then on; later parts are updates of their own.
 */
export async function joinAlbum(db: Db, first: Pick<WaitingUpdate, "botId" | "updateId">): Promise<WaitingUpdate[]> {
  const key = { botId: first.botId, updateId: first.updateId };
  await sql.joinAlbum.run(db, key);
  const rows = await sql.listAlbum.all<WaitingRow>(db, key);
  return rows.map(asWaiting);
}

/** Returns true if an update still waits: its author may have been erased since it was listed. */
export async function isWaiting(
  db: Db,
  { botId, updateId }: Pick<WaitingUpdate, "botId" | "updateId">,
): Promise<boolean> {
  return (await sql.isWaiting.run(db, { botId, updateId })) > 0;
}

/** Records the results of updates, and deletes their content. */
export async function finish(db: Db, botId: number, updateIds: readonly number[], state: FinishedState): Promise<void> {
  await sql.finish.run(db, { botId, updateIds, state });
}

/** Postpones an update, and with it the later ones of its conversation. The attempt counts if `counts`. */
export const retryLater = (
  db: Db,
  { botId, updateId }: Pick<WaitingUpdate, "botId" | "updateId">,
  { delayMs, failure, counts }: { delayMs: number; failure: string; counts: boolean },
): Promise<void> =>
  sql.retryLater.exec(db, { botId, updateId, delayMs: Math.round(delayMs), failure, counted: counts ? 1 : 0 });

/** Marks updates as dead: they wait for an operator, and the conversation continues without them. */
export async function markDead(db: Db, botId: number, updateIds: readonly number[], failure: string): Promise<void> {
  await sql.markDead.run(db, { botId, updateIds, failure });
}

/** Returns the dead updates of a project, newest first, at most `limit`. */
export async function listDead(db: Db, project: ProjectId, limit: number): Promise<DeadUpdate[]> {
  const rows = await sql.listDead.all<{
    messageId: string;
    ticketId: string;
    chatId: string | null;
    excerpt: string | null;
    failure: string | null;
    settledAt: Date;
  }>(db, { project, limit });
  return rows.map((row) => ({
    messageId: row.messageId,
    ticketId: row.ticketId,
    chatId: row.chatId ?? "",
    text: row.excerpt ?? "",
    failure: row.failure ?? "",
    failedAt: row.settledAt,
  }));
}

/** Retries a dead update, with the rest of its album, with five new attempts. Returns false if there is none. */
export async function retryDead(db: Db, project: ProjectId, messageId: string): Promise<boolean> {
  return (await sql.retryDead.run(db, { project, messageId })) > 0;
}

/**
 * Deletes updates that can no longer arrive again, and dead ones after a month. Returns how many of them were
 * unanswered, and whether there may be more to delete.
 */
export async function prune(db: Db): Promise<{ unanswered: number; isMore: boolean }> {
  const rows = await sql.prune.all(db);
  return {
    unanswered: rows.filter(({ isUnanswered }) => isUnanswered).length,
    isMore: rows.length >= PRUNE_PAGE,
  };
}

/**
 * Returns the newest message of a conversation that was created from this Telegram message, if it is recent; else null.
 */
export async function findMessage(
  db: Db,
  project: ProjectId,
  ticketId: string,
  telegramMessageId: number,
): Promise<SentMessage | null> {
  const row = await sql.findMessage.one<{ text: string; channelMeta: Record<string, unknown> }>(db, {
    project,
    ticketId,
    telegramMessageId: String(telegramMessageId),
  });
  return row;
}

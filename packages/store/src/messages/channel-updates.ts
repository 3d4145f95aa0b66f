import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** An update as it came, with what has to be known of it before it is read. */
export interface NewChannelUpdate {
  updateId: number;
  /** Of which conversation and chat, and who wrote; null where it is about none. Then it is nothing to answer. */
  origin: { ticketId: string; chatId: string; userId: string | null } | null;
  /** All of it, as JSON. */
  body: string;
  /** How its text begins. */
  excerpt: string;
  /** The album that it is a part of, else null. */
  albumId: string | null;
}

/** An update whose turn it is in its conversation. */
export interface WaitingUpdate {
  project: ProjectId;
  botId: number;
  updateId: number;
  ticketId: string;
  /** The message that it becomes. */
  messageId: string;
  chatId: string;
  body: string;
  isAlbum: boolean;
  /** Tries that have failed. */
  tries: number;
  receivedAt: Date;
}

/** What an update has become; see the migration. */
export type SettledState = "accepted" | "answered" | "ignored";

/** A message that was made of an update. */
export interface SentMessage {
  text: string;
  channelMeta: Record<string, unknown>;
}

/** An update that five tries have failed on. */
export interface DeadUpdate {
  messageId: string;
  ticketId: string;
  chatId: string;
  text: string;
  failure: string;
  failedAt: Date;
}

interface WaitingRow {
  projectId: string;
  botId: number;
  updateId: number;
  ticketId: string;
  messageId: string;
  chatId: string;
  body: string;
  albumId: string | null;
  tries: number;
  receivedAt: Date;
}

const asWaiting = (row: WaitingRow): WaitingUpdate => ({
  project: asProjectId(row.projectId),
  botId: row.botId,
  updateId: row.updateId,
  ticketId: row.ticketId,
  messageId: row.messageId,
  chatId: row.chatId,
  body: row.body,
  isAlbum: row.albumId !== null,
  tries: row.tries,
  receivedAt: row.receivedAt,
});

const PRUNE_PAGE = 1_000;

const sql = statements("messages/channel-updates", {
  prunePage: PRUNE_PAGE,
});

/** Commits updates; those that are there already stay as they are. Returns how many were new. */
export async function insertMany(
  db: Db,
  project: ProjectId,
  botId: number,
  updates: readonly NewChannelUpdate[],
): Promise<number> {
  if (updates.length === 0) return 0;
  // One id cannot be written twice by a statement.
  const unique = [...new Map(updates.map((update) => [update.updateId, update])).values()];
  const count = await sql.insert.run(db, {
    botId,
    project,
    updateId: unique.map(({ updateId }) => updateId),
    ticketId: unique.map(({ origin }) => origin?.ticketId ?? null),
    messageId: unique.map(() => newId()),
    chatId: unique.map(({ origin }) => origin?.chatId ?? null),
    userId: unique.map(({ origin }) => origin?.userId ?? null),
    body: unique.map(({ body }) => body),
    excerpt: unique.map(({ excerpt }) => excerpt),
    albumId: unique.map(({ albumId }) => albumId),
  });
  return count;
}

/** The oldest update of each conversation, where it may be taken now: at most `limit`, without the busy ones. */
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
 * All parts of an album, its first one among them, in their order. What has come until it is first asked for belongs
 * together from then on; what comes later is an update of its own.
 */
export async function joinAlbum(db: Db, first: Pick<WaitingUpdate, "botId" | "updateId">): Promise<WaitingUpdate[]> {
  const key = { botId: first.botId, updateId: first.updateId };
  await sql.joinAlbum.run(db, key);
  const rows = await sql.listAlbum.all<WaitingRow>(db, key);
  return rows.map(asWaiting);
}

/** Whether an update is still to be taken: who wrote it may have been erased since it was listed. */
export async function isWaiting(
  db: Db,
  { botId, updateId }: Pick<WaitingUpdate, "botId" | "updateId">,
): Promise<boolean> {
  return (await sql.isWaiting.run(db, { botId, updateId })) > 0;
}

/** Notes what updates have become, and forgets what they said. */
export async function settle(db: Db, botId: number, updateIds: readonly number[], state: SettledState): Promise<void> {
  await sql.settle.run(db, { botId, updateIds, state });
}

/** Puts an update off, and with it what comes after it in its conversation. The try counts if `counts`. */
export async function retryLater(
  db: Db,
  { botId, updateId }: Pick<WaitingUpdate, "botId" | "updateId">,
  { delayMs, failure, counts }: { delayMs: number; failure: string; counts: boolean },
): Promise<void> {
  await sql.retryLater.run(db, { botId, updateId, delayMs: Math.round(delayMs), failure, counted: counts ? 1 : 0 });
}

/** Gives updates up: they wait for an operator, and the conversation continues without them. */
export async function bury(db: Db, botId: number, updateIds: readonly number[], failure: string): Promise<void> {
  await sql.bury.run(db, { botId, updateIds, failure });
}

/** The dead updates of a project, newest first, at most `limit`. */
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

/** Has a dead update, with the rest of its album, taken again, with five fresh tries. False when there is none. */
export async function revive(db: Db, project: ProjectId, messageId: string): Promise<boolean> {
  return (await sql.revive.run(db, { project, messageId })) > 0;
}

/**
 * Forgets what can come no more, and what nobody has looked at for a month. Returns how many of them had not been
 * answered, and whether there may be more to forget.
 */
export async function prune(db: Db): Promise<{ unanswered: number; isMore: boolean }> {
  const rows = await sql.prune.all<{ isUnanswered: boolean }>(db);
  return {
    unanswered: rows.filter(({ isUnanswered }) => isUnanswered).length,
    isMore: rows.length >= PRUNE_PAGE,
  };
}

/** The newest of the messages of a conversation that came as this message of Telegram, if it was lately; else null. */
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

import { updateVersioned } from "../db.ts";
import type { Db, UpdateResult } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("tickets/canned-replies");

/** A text that operators send again and again. */
export interface CannedReplyRecord {
  id: string;
  name: string;
  /** Markdown with variables. */
  text: string;
  folder: string | null;
  tags: string[];
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** What of a canned reply is given; what is left out stays, or has its default. */
export interface CannedReplyFields {
  name?: string | undefined;
  text?: string | undefined;
  folder?: string | null | undefined;
  tags?: string[] | undefined;
}

/** What variables of a canned reply stand for. */
export interface TicketFacts {
  userId: string | null;
  chatId: string;
  subject: string;
  channelId: string;
  language: string | null;
  agentName: string | null;
  projectName: string;
}

export async function find(db: Db, project: ProjectId, id: string): Promise<CannedReplyRecord | null> {
  return sql.find.one<CannedReplyRecord>(db, { project, id });
}

/** Makes a canned reply; null when the project has one of this name. */
export async function insert(
  db: Db,
  project: ProjectId,
  fields: CannedReplyFields & { name: string; text: string },
): Promise<CannedReplyRecord | null> {
  return sql.insert.one<CannedReplyRecord>(db, {
    id: newId(),
    project,
    name: fields.name,
    text: fields.text,
    folder: fields.folder,
    tags: fields.tags ?? [],
  });
}

/**
 * Canned replies, newest first: those made before the one with the id `before`, with `q` in name or text, in one
 * folder and with one tag.
 */
export async function listPage(
  db: Db,
  project: ProjectId,
  options: {
    limit: number;
    before?: string | undefined;
    q?: string | undefined;
    folder?: string | undefined;
    tag?: string | undefined;
  },
): Promise<CannedReplyRecord[]> {
  return sql.listPage.all<CannedReplyRecord>(db, {
    project,
    limit: options.limit,
    id: options.before,
    q: options.q,
    folder: options.folder,
    tag: options.tag,
  });
}

/**
 * Changes what is given, where `versions` has the present version or is null. `record` is as it is now; null when the
 * project has none of this id.
 */
export async function update(
  db: Db,
  project: ProjectId,
  id: string,
  fields: CannedReplyFields,
  versions: readonly number[] | null,
): Promise<{ result: UpdateResult; record: CannedReplyRecord | null }> {
  const result = await updateVersioned(() =>
    sql.update.run(db, {
      project,
      id,
      name: fields.name,
      text: fields.text,
      setsFolder: fields.folder !== undefined,
      folder: fields.folder,
      tags: fields.tags,
      versions,
    }),
  );
  return { result, record: await find(db, project, id) };
}

/** Deletes a canned reply, where `versions` has its present version or is null; false when it has another one. */
export async function remove(
  db: Db,
  project: ProjectId,
  id: string,
  versions: readonly number[] | null,
): Promise<boolean> {
  return (await sql.remove.run(db, { project, id, versions })) > 0;
}

/** What variables stand for in a conversation that this project works on; null when there is none of this id. */
export async function findTicketFacts(db: Db, project: ProjectId, ticketId: string): Promise<TicketFacts | null> {
  const row = await sql.findTicketFacts.one<{
    userId: string | null;
    chatId: string;
    subject: string;
    channelId: string;
    language: string | null;
    agentName: string | null;
    projectName: string;
  }>(db, { project, ticketId });
  if (row === null) return null;
  return row;
}

import { updateVersioned } from "../db.ts";
import type { Db, PageQuery, UpdateResult, VersionedId } from "../db.ts";
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

/** Returns a canned reply, or null if the project has none with this id. */
export const find = (db: Db, project: ProjectId, id: string) => sql.find.one<CannedReplyRecord>(db, { project, id });

/** Creates a canned reply; null when the project has one of this name. */
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
export const listPage = (
  db: Db,
  project: ProjectId,
  { limit, before, q, folder, tag }: PageQuery & { folder?: string | undefined; tag?: string | undefined },
) => sql.listPage.all<CannedReplyRecord>(db, { project, limit, before, q, folder, tag });

/**
 * Changes what is given, where `versions` has the current version or is null. `record` is as it is now; null when the
 * project has none of this id.
 */
export async function update(
  db: Db,
  project: ProjectId,
  { id, versions }: VersionedId,
  fields: CannedReplyFields,
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
export const remove = (db: Db, project: ProjectId, { id, versions }: VersionedId) =>
  sql.remove.any(db, { project, id, versions });

/** What variables stand for in a conversation that this project works on; null when there is none of this id. */
export const findTicketFacts = (db: Db, project: ProjectId, ticketId: string) =>
  sql.findTicketFacts.one<TicketFacts>(db, { project, ticketId });

import type { CannedReply, CannedReplyActions } from "@svc/contracts";
import { updateVersioned } from "../db.ts";
import type { Db, PageQuery, UpdateResult, VersionedId } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("tickets/canned-replies");

/** A text that operators send often. */
export interface CannedReplyRecord {
  id: string;
  name: string;
  /** Markdown with variables. */
  text: string;
  folder: string | null;
  tags: string[];
  /** Changes that it makes to a ticket. */
  actions: CannedReply["actions"];
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** Given fields of a canned reply; omitted ones are unchanged, or have their default. */
export interface CannedReplyFields {
  name?: string | undefined;
  text?: string | undefined;
  folder?: string | null | undefined;
  tags?: string[] | undefined;
  actions?: CannedReplyActions | undefined;
}

/** Values of the variables in canned replies. */
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

/** Creates a canned reply; null if the project has one of this name. */
export const insert = (
  db: Db,
  project: ProjectId,
  fields: CannedReplyFields & { name: string; text: string },
): Promise<CannedReplyRecord | null> =>
  sql.insert.one<CannedReplyRecord>(db, {
    id: newId(),
    project,
    name: fields.name,
    text: fields.text,
    folder: fields.folder,
    tags: fields.tags ?? [],
    actions: JSON.stringify(fields.actions ?? {}),
  });

/**
 * Returns canned replies, newest first: those created before the one with id `before`, with `q` in name or text, in one
 * folder and with one tag.
 */
export const listPage = (
  db: Db,
  project: ProjectId,
  { limit, before, q, folder, tag }: PageQuery & { folder?: string | undefined; tag?: string | undefined },
) => sql.listPage.all<CannedReplyRecord>(db, { project, limit, before, q, folder, tag });

/**
 * Changes the given fields, if `versions` contains the current version or is null. `record` is its current state; null
 * if the project has none with this id.
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
      actions: fields.actions === undefined ? null : JSON.stringify(fields.actions),
      versions,
    }),
  );
  return { result, record: await find(db, project, id) };
}

/** Deletes a canned reply, if `versions` contains its current version or is null; false if it has another one. */
export const remove = (db: Db, project: ProjectId, { id, versions }: VersionedId) =>
  sql.remove.any(db, { project, id, versions });

/** Returns the values of variables in a conversation that this project works on; null if there is none with this id. */
export const findTicketFacts = (db: Db, project: ProjectId, ticketId: string) =>
  sql.findTicketFacts.one<TicketFacts>(db, { project, ticketId });

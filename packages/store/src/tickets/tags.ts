import type { TagColor } from "@svc/contracts";
import { isUniqueViolation } from "../db.ts";
import type { Db, PageQuery, UpdateResult, VersionedId } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** Tickets on which one step renames a tag. */
const STEP_TICKETS = 500;

/**
 * Time in which the former name of a renamed or merged tag is also replaced on tickets that get it. When a page of the
 * console is opened or gets the focus, it refetches tags older than a minute. A page that stays open can show older ones.
 */
const REPLACE_FOR_SECONDS = 90;

const sql = statements("tickets/tags", { stepTickets: STEP_TICKETS, replaceForSeconds: REPLACE_FOR_SECONDS });

/** A managed tag. Tickets refer to it by its name. */
export interface TagRecord {
  id: string;
  name: string;
  color: TagColor;
  description: string;
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** Given fields of a tag; omitted ones are unchanged, or have their default. */
export interface TagFields {
  name?: string | undefined;
  color?: TagColor | undefined;
  description?: string | undefined;
}

/** A replacement of a name on tickets. */
interface TagChange {
  fromName: string;
  /** Null if the tag is removed. */
  toName: string | null;
  actor: string;
}

/** Result of a change, and the current state of the tag; null if the project has none with this id. */
export interface TagOutcome {
  result: UpdateResult;
  record: TagRecord | null;
}

/** Returns a managed tag, or null if the project has none with this id. */
export const find = (db: Db, project: ProjectId, id: string) => sql.find.one<TagRecord>(db, { project, id });

/** Returns managed tags, newest first: those created before the one with id `before`, and with `q` in the name. */
export const listPage = (db: Db, project: ProjectId, { limit, before, q }: PageQuery) =>
  sql.listPage.all<TagRecord>(db, { project, limit, before, q });

/** Returns the number of managed tags of a project. */
export async function count(db: Db, project: ProjectId): Promise<number> {
  return (await sql.count.one(db, { project }))?.count ?? 0;
}

/** Creates a managed tag; null if the project has one of this name, ignoring case. */
export const insert = (
  db: Db,
  project: ProjectId,
  { name, color, description }: TagFields & { name: string },
): Promise<TagRecord | null> =>
  db.transaction(async (tx) => {
    const record = await sql.insert.one<TagRecord>(tx, { id: newId(), project, name, color, description });
    if (record !== null) await sql.dropChange.run(tx, { project, name });
    return record;
  });

/** Replaces a name wherever it is used; `carryOutChanges` does so on tickets. */
async function replaceName(tx: Db, project: ProjectId, { fromName, toName, actor }: TagChange): Promise<void> {
  if (toName !== null) {
    await sql.dropChange.run(tx, { project, name: toName });
    await sql.renameInViews.run(tx, { project, fromName, toName });
  }
  await sql.renameInCannedReplies.run(tx, { project, fromName, toName });
  await sql.redirectChanges.run(tx, { project, fromName, toName });
  await sql.insertChange.run(tx, { project, fromName, toName, actor });
}

/** Locks a tag that has one of the expected versions. */
async function lock(tx: Db, project: ProjectId, { id, versions = null }: VersionedId): Promise<TagOutcome> {
  const record = await sql.lock.one<TagRecord>(tx, { project, ids: [id] });
  const isExpected = record !== null && (versions === null || versions.includes(record.version));
  return { result: isExpected ? "changed" : "stale", record };
}

/**
 * Changes the given fields, if `versions` contains the current version or is null. A new name replaces the former one
 * in saved views and canned replies at once, and on tickets by `carryOutChanges`. "taken" if another tag of the project
 * has the name, ignoring case.
 */
export async function update(
  db: Db,
  project: ProjectId,
  target: VersionedId,
  { fields, actor }: { fields: TagFields; actor: string },
): Promise<TagOutcome> {
  const change = async (tx: Db): Promise<TagOutcome> => {
    const before = await lock(tx, project, target);
    if (before.result === "stale" || before.record === null) return before;
    const { name, color, description } = fields;
    const record = await sql.update.one<TagRecord>(tx, { project, id: target.id, name, color, description });
    const fromName = before.record.name;
    if (name !== undefined && name !== fromName) {
      await replaceName(tx, project, { fromName, toName: name, actor });
    }
    return { result: "changed", record };
  };
  try {
    return await db.transaction(change);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return { result: "taken", record: await find(db, project, target.id) };
  }
}

/**
 * Deletes a tag, if `versions` contains its current version or is null; `record` is the tag as it was. It is also
 * removed from canned replies, and from tickets by `carryOutChanges`.
 */
export const remove = (db: Db, project: ProjectId, target: VersionedId, actor: string): Promise<TagOutcome> =>
  db.transaction(async (tx) => {
    const found = await lock(tx, project, target);
    if (found.result === "stale" || found.record === null) return found;
    await sql.remove.run(tx, { project, id: target.id });
    await replaceName(tx, project, { fromName: found.record.name, toName: null, actor });
    return found;
  });

/**
 * Merges two tags: `intoId` replaces `fromId`, on tickets by `carryOutChanges`. Returns the remaining tag; null if the
 * project lacks one of the two.
 */
export const merge = (
  db: Db,
  project: ProjectId,
  { intoId, fromId }: { intoId: string; fromId: string },
  actor: string,
): Promise<TagRecord | null> =>
  db.transaction(async (tx) => {
    const tags = await sql.lock.all<TagRecord>(tx, { project, ids: [intoId, fromId] });
    const into = tags.find(({ id }) => id === intoId);
    const from = tags.find(({ id }) => id === fromId);
    if (into === undefined || from === undefined) return null;
    await sql.remove.run(tx, { project, id: fromId });
    await replaceName(tx, project, { fromName: from.name, toName: into.name, actor });
    return into;
  });

/**
 * Replaces a changed name on some tickets; returns on how many, 0 if nothing is left to do now. Safe with any number of
 * replicas and after any crash: a change ends once no ticket has the former name, and ticket_list includes all events
 * from before the change. A rename or merge ends after 90 seconds at the earliest.
 */
export const carryOutChanges = (db: Db): Promise<number> =>
  db.transaction(async (tx) => {
    // One change per transaction: it locks tickets and their rows of ticket_list once, in the order of ids.
    const change = await sql.holdChange.one<TagChange & { project: string }>(tx);
    if (change === null) return 0;
    const { project, fromName } = change;
    const renamed = await sql.renameOnTickets.all(tx, change);
    if (renamed.length > 0) await sql.followTickets.run(tx, { ids: renamed.map(({ ticketId }) => ticketId) });
    if (renamed.length < STEP_TICKETS) await sql.finishChange.run(tx, { project, fromName });
    return renamed.length;
  });

import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { updateVersioned } from "../db.ts";
import type { Db, UpdateResult, VersionedId, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** A knowledge base: documents that agents answer from. */
export interface Kb {
  id: string;
  name: string;
  /** Number of documents that were read; unread ones are in `KbState`. */
  documentCount: number;
  chunkCount: number;
  /** Languages of its documents so far (ISO 639-1): a query is stemmed as each of them. */
  languages: string[];
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** A knowledge base with the state of its documents. */
export interface KbState {
  id: string;
  name: string;
  /** All its documents, including queued and failed ones. */
  documentCount: number;
  chunkCount: number;
  /** Queued documents, and sitemaps whose pages are not known yet. */
  queuedCount: number;
  failedCount: number;
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** Prefix of the name of a deleted knowledge base, before its id: longer than any valid name. */
const DELETED_PREFIX = "deleted ".padEnd(KB_LIMITS.nameMaxChars + 1, "-");

const sql = statements("knowledge/kbs", {
  deletedPrefix: DELETED_PREFIX,
});

/**
 * Steps of removing a knowledge base, each repeated until it finds nothing. Dependent rows are deleted with their row.
 * Nothing else writes to a deleted knowledge base, so these statements never wait.
 */
const PURGE_STEPS = [
  sql.purgeIngests,
  sql.purgeDocuments,
  sql.purgeArticleImages,
  sql.purgeArticles,
  sql.purgePostings,
  sql.purgeWords,
  sql.purgeTerms,
  sql.purgeSelf,
] as const;

/** Returns a knowledge base, or null if the project has none with this id. */
export const findState = (db: Db, project: ProjectId, id: string) => sql.findState.one<KbState>(db, { project, id });

/** Creates a knowledge base, or returns the one of this project with this name. */
export async function ensure(db: Db, project: ProjectId, name: string): Promise<{ kb: Kb; created: boolean }> {
  const row = await sql.ensure.one<Kb>(db, { id: newId(), project, name });
  if (row !== null) return { kb: row, created: true };
  const existing = await sql.findByName.one<Kb>(db, { project, name });
  if (existing === null) throw new Error(`knowledge base ${name} disappeared while it was being created`);
  return { kb: existing, created: false };
}

/** Creates a knowledge base; null if the project has one with this name. */
export async function insert(db: Db, project: ProjectId, name: string): Promise<KbState | null> {
  const id = newId();
  const count = await sql.insert.run(db, { id, project, name });
  return count === 0 ? null : findState(db, project, id);
}

/** Returns all knowledge bases of a project by name. */
export const list = (db: Db, project: ProjectId) => sql.list.all<Kb>(db, { project });

/**
 * Returns knowledge bases of a project, newest first: those created before the one with id `before`, and with `q` in
 * the name.
 */
export const listPage = (db: Db, project: ProjectId, { limit, before, q }: PageQuery) =>
  sql.listPage.all<KbState>(db, { project, limit, before, q });

/** Returns those of these knowledge bases that this project has; others are silently skipped. */
export const findAll = (db: Db, project: ProjectId, ids: readonly string[]) =>
  sql.findAll.all<Kb>(db, { project, ids });

/**
 * Changes the name and raises the version, if `versions` contains the current one or is null. Returns the result;
 * `state` is the current one if it has another version, null if the project has no such knowledge base.
 */
export async function update(
  db: Db,
  project: ProjectId,
  { id, versions }: VersionedId,
  change: { name?: string | undefined },
): Promise<{ result: UpdateResult; state: KbState | null }> {
  const result = await updateVersioned(() => sql.update.run(db, { project, id, name: change.name, versions }));
  return { result, state: await findState(db, project, id) };
}

/**
 * Deletes a knowledge base, if `versions` contains its current version or is null: it can no longer be found, its name
 * is free, and agents lose it. `purge` removes its content, so that this is fast for any size. Returns false if there
 * is none of these versions.
 */
export function remove(db: Db, project: ProjectId, { id, versions }: VersionedId): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await sql.remove.any(tx, { project, id, versions }))) return false;
    await sql.removeFromAgents.run(tx, { project, id });
    return true;
  });
}

/**
 * Removes a part of the content of deleted knowledge bases of all projects, in short transactions. Returns true if
 * there may be more to remove.
 */
export function purge(db: Db): Promise<boolean> {
  return db.transaction(async (tx) => {
    const kb = await sql.purge.one(tx);
    if (kb === null) return false;
    for (const step of PURGE_STEPS) if ((await step.run(tx, { id: kb.id })) > 0) return true;
    return false;
  });
}

/** Locks a knowledge base against its deletion until the commit, without excluding others. Throws not_found. */
export async function holdKb(tx: Db, project: ProjectId, kbId: string): Promise<void> {
  if (!(await sql.holdKb.any(tx, { project, kbId })))
    throw new ServiceError("not_found", "No knowledge base with this ID exists in this project.");
}

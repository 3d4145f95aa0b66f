import type { ImportItem } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** How long an import is kept after its end. */
const IMPORT_KEPT_DAYS = 30;

/** Imports that one statement removes. */
const IMPORT_BATCH = 1_000;

interface ImportRow {
  id: string;
  kbId: string;
  url: string;
  maxPages: number;
  foundCount: number | null;
  doneCount: number;
  failedCount: number;
  error: string | null;
  createdAt: Date;
  updatedAt: Date;
  waitingCount: number;
}

const sql = statements("knowledge/imports", {
  importKeptDays: IMPORT_KEPT_DAYS,
  importBatch: IMPORT_BATCH,
});

/** Removes imports of all projects that ended long ago, some at a time. True when there may be more. */
export async function purge(db: Db): Promise<boolean> {
  const count = await sql.purge.run(db);
  return count === IMPORT_BATCH;
}

/** The import with this id, of a knowledge base of this project, or null. */
export async function find(db: Db, project: ProjectId, kbId: string, id: string): Promise<ImportItem | null> {
  const row = await sql.find.one<ImportRow>(db, { project, kbId, id });
  return row === null ? null : asImport(row);
}

/** Imports of a knowledge base, newest first: those made before the one with the id `before`. */
export async function list(
  db: Db,
  project: ProjectId,
  kbId: string,
  { limit, before, q }: { limit: number; before?: string | undefined; q?: string | undefined },
): Promise<ImportItem[]> {
  const rows = await sql.list.all<ImportRow>(db, { project, kbId, limit, id: before, q });
  return rows.map(asImport);
}

function asImport(row: ImportRow): ImportItem {
  const waiting = row.foundCount === null ? "queued" : "running";
  const status = row.error === null ? "ready" : "failed";
  const found = row.foundCount;
  const { doneCount: done, failedCount: failed, waitingCount } = row;
  return {
    id: row.id,
    kbId: row.kbId,
    sitemap: row.url,
    maxPages: row.maxPages,
    status: waitingCount > 0 ? waiting : status,
    found,
    done,
    failed,
    skipped: found === null ? 0 : Math.max(found - done - failed - waitingCount, 0),
    error: row.error,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

import type { ImportItem } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

/** How long an import is kept after its end. */
const IMPORT_KEPT_DAYS = 30;

/** Imports that one statement removes. */
const IMPORT_BATCH = 1_000;

interface ImportRow {
  id: string;
  kb_id: string;
  url: string;
  max_pages: number;
  found_count: number | null;
  done_count: number;
  failed_count: number;
  error: string | null;
  created_at: Date;
  updated_at: Date;
  waiting_count: number;
}

const IMPORT = `m.id, m.kb_id, m.url, m.max_pages, m.found_count, m.done_count, m.failed_count, m.error, m.created_at,
  m.updated_at, (SELECT count(*) FROM ingests i WHERE i.import_id = m.id) AS waiting_count`;

/** Imports of sitemaps: how many of their pages are read. */
export function importsTable(db: Db) {
  return {
    /** Removes imports of all projects that ended long ago, some at a time. True when there may be more. */
    async purge(): Promise<boolean> {
      const rows = await db.query(
        `DELETE FROM imports WHERE id IN (
           SELECT m.id FROM imports m
           WHERE m.created_at < now() - interval '${IMPORT_KEPT_DAYS} days'
             AND m.updated_at < now() - interval '${IMPORT_KEPT_DAYS} days'
             AND NOT EXISTS (SELECT 1 FROM ingests i WHERE i.import_id = m.id)
           ORDER BY m.created_at LIMIT ${IMPORT_BATCH} FOR UPDATE SKIP LOCKED
         ) RETURNING 1`,
      );
      return rows.length === IMPORT_BATCH;
    },

    /** The import with this id, of a knowledge base of this project, or null. */
    async find(project: ProjectId, kbId: string, id: string): Promise<ImportItem | null> {
      const rows = await db.query<ImportRow>(
        `SELECT ${IMPORT} FROM imports m JOIN kbs k ON k.id = m.kb_id AND k.deleted_at IS NULL
         WHERE m.project_id = $1 AND m.kb_id = $2 AND m.id = $3`,
        [project, kbId, id],
      );
      const row = rows[0];
      return row === undefined ? null : asImport(row);
    },

    /** Imports of a knowledge base, newest first: those made before the one with the id `before`. */
    async list(
      project: ProjectId,
      kbId: string,
      { limit, before, q }: { limit: number; before?: string | undefined; q?: string | undefined },
    ): Promise<ImportItem[]> {
      const rows = await db.query<ImportRow>(
        `SELECT ${IMPORT} FROM imports m
         WHERE m.project_id = $1 AND m.kb_id = $2 AND ($4::uuid IS NULL OR m.id < $4)
           AND ($5::text IS NULL OR strpos(lower(m.url), lower($5)) > 0)
         ORDER BY m.id DESC LIMIT $3`,
        [project, kbId, limit, before ?? null, q ?? null],
      );
      return rows.map(asImport);
    },
  };
}

function asImport(row: ImportRow): ImportItem {
  const waiting = row.found_count === null ? "queued" : "running";
  const status = row.error === null ? "ready" : "failed";
  const found = row.found_count;
  const { done_count: done, failed_count: failed, waiting_count: waitingCount } = row;
  return {
    id: row.id,
    kbId: row.kb_id,
    sitemap: row.url,
    maxPages: row.max_pages,
    status: waitingCount > 0 ? waiting : status,
    found,
    done,
    failed,
    skipped: found === null ? 0 : Math.max(found - done - failed - waitingCount, 0),
    error: row.error,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

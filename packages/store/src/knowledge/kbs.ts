import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { isUniqueViolation } from "../db.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** A knowledge base: documents that agents answer from. */
export interface Kb {
  id: string;
  name: string;
  /** Documents that were put into it; those that are not read yet are in `KbState`. */
  documentCount: number;
  chunkCount: number;
  /** Languages of its documents so far (ISO 639-1): a query is stemmed as each of them. */
  languages: string[];
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** A knowledge base with what is going on in it. */
export interface KbState {
  id: string;
  name: string;
  /** All its documents, those that wait and those that failed included. */
  documentCount: number;
  chunkCount: number;
  /** What waits to be read: documents, and sitemaps whose pages are not known yet. */
  queuedCount: number;
  failedCount: number;
  createdAt: Date;
  updatedAt: Date;
  version: number;
}

interface KbRow {
  id: string;
  name: string;
  document_count: number;
  chunk_count: number;
  languages: string[];
  created_at: Date;
  updated_at: Date;
  version: number;
}

interface KbStateRow extends Omit<KbRow, "languages"> {
  queued_count: number;
  failed_count: number;
}

const COLUMNS = "id, name, document_count, chunk_count, languages, created_at, updated_at, version";

// Counted where they stand: a count kept beside the base would make whoever hands in a document wait for whoever puts one.
const STATE = `k.id, k.name, k.chunk_count, k.created_at, k.updated_at, k.version,
  (SELECT count(*) FROM documents d WHERE d.kb_id = k.id) AS document_count,
  (SELECT count(*) FROM ingests i WHERE i.kb_id = k.id) AS queued_count,
  (SELECT count(*) FROM documents d WHERE d.kb_id = k.id AND d.status = 'failed'
     AND NOT EXISTS (SELECT 1 FROM ingests i WHERE i.document_id = d.id)) AS failed_count`;

/** What stands before the id in the name of a knowledge base that was deleted: longer than any name that is taken. */
const DELETED_PREFIX = "deleted ".padEnd(KB_LIMITS.nameMaxChars + 1, "-");

/** What one step of the removal of a knowledge base takes at most, so that no statement lasts long. */
const PURGE_LIMITS = { ingests: 20, documents: 200, chunks: 2_000, rows: 5_000 } as const;

/**
 * The steps of that removal, each of which is repeated until it finds nothing more. What hangs on a row goes with it.
 * Nothing else writes to a knowledge base that was deleted, so these statements wait for nobody.
 */
const PURGE_STEPS = [
  `DELETE FROM ingests WHERE id IN (
     SELECT id FROM ingests WHERE kb_id = $1 ORDER BY id LIMIT ${PURGE_LIMITS.ingests}
   ) RETURNING 1`,
  // At least one document, and more while they have few passages together.
  `DELETE FROM documents WHERE id IN (
     SELECT id FROM (
       SELECT id, sum(chunk_count) OVER (ORDER BY id) - chunk_count AS chunks_before
       FROM (SELECT id, chunk_count FROM documents WHERE kb_id = $1 ORDER BY id LIMIT ${PURGE_LIMITS.documents}) AS d
     ) AS counted WHERE chunks_before < ${PURGE_LIMITS.chunks}
   ) RETURNING 1`,
  `DELETE FROM kb_postings WHERE ctid = ANY (ARRAY(
     SELECT p.ctid FROM kb_postings p JOIN kbs k ON k.number = p.kb_number WHERE k.id = $1 LIMIT ${PURGE_LIMITS.rows}
   )) RETURNING 1`,
  `DELETE FROM kb_words WHERE ctid = ANY (ARRAY(
     SELECT w.ctid FROM kb_words w JOIN kbs k ON k.number = w.kb_number WHERE k.id = $1 LIMIT ${PURGE_LIMITS.rows}
   )) RETURNING 1`,
  `DELETE FROM kb_terms WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM kb_terms WHERE kb_id = $1 LIMIT ${PURGE_LIMITS.rows}
   )) RETURNING 1`,
  "DELETE FROM kbs WHERE id = $1 AND deleted_at IS NOT NULL RETURNING 1",
] as const;

/** Knowledge bases of a project. */
export function kbsTable(db: Db) {
  async function findState(project: ProjectId, id: string): Promise<KbState | null> {
    const rows = await db.query<KbStateRow>(
      `SELECT ${STATE} FROM kbs k WHERE k.project_id = $1 AND k.id = $2 AND k.deleted_at IS NULL`,
      [project, id],
    );
    const row = rows[0];
    return row === undefined ? null : asKbState(row);
  }

  return {
    findState,

    /** Makes a knowledge base, or answers the one of this project that has this name. */
    async ensure(project: ProjectId, name: string): Promise<{ kb: Kb; created: boolean }> {
      const made = await db.query<KbRow>(
        `INSERT INTO kbs (id, project_id, name) VALUES ($1, $2, $3) ON CONFLICT (project_id, name) DO NOTHING
         RETURNING ${COLUMNS}`,
        [newId(), project, name],
      );
      const row = made[0];
      if (row !== undefined) return { kb: asKb(row), created: true };
      const found = await db.query<KbRow>(
        `SELECT ${COLUMNS} FROM kbs WHERE project_id = $1 AND name = $2 AND deleted_at IS NULL`,
        [project, name],
      );
      const existing = found[0];
      if (existing === undefined) throw new Error(`knowledge base ${name} disappeared while it was being created`);
      return { kb: asKb(existing), created: false };
    },

    /** Makes a knowledge base; null when the project has one of this name. */
    async insert(project: ProjectId, name: string): Promise<KbState | null> {
      const id = newId();
      const rows = await db.query(
        `INSERT INTO kbs (id, project_id, name) VALUES ($1, $2, $3) ON CONFLICT (project_id, name) DO NOTHING
         RETURNING id`,
        [id, project, name],
      );
      return rows.length === 0 ? null : findState(project, id);
    },

    /** All knowledge bases of a project by name. */
    async list(project: ProjectId): Promise<Kb[]> {
      const rows = await db.query<KbRow>(
        `SELECT ${COLUMNS} FROM kbs WHERE project_id = $1 AND deleted_at IS NULL ORDER BY name`,
        [project],
      );
      return rows.map(asKb);
    },

    /**
     * Knowledge bases of a project, newest first: those made before the one with the id `before`, and with `q` in the
     * name.
     */
    async listPage(
      project: ProjectId,
      { limit, before, q }: { limit: number; before?: string | undefined; q?: string | undefined },
    ): Promise<KbState[]> {
      const rows = await db.query<KbStateRow>(
        `SELECT ${STATE} FROM kbs k
         WHERE k.project_id = $1 AND k.deleted_at IS NULL AND ($3::uuid IS NULL OR k.id < $3)
           AND ($4::text IS NULL OR strpos(lower(k.name), lower($4)) > 0)
         ORDER BY k.id DESC LIMIT $2`,
        [project, limit, before ?? null, q ?? null],
      );
      return rows.map(asKbState);
    },

    /** Those of these knowledge bases that this project has. Others are left out silently: a search sees only its own. */
    async findAll(project: ProjectId, ids: readonly string[]): Promise<Kb[]> {
      const rows = await db.prepared<KbRow>(
        "kbs_find_all",
        `SELECT ${COLUMNS} FROM kbs WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND deleted_at IS NULL
         ORDER BY name`,
        [project, ids],
      );
      return rows.map(asKb);
    },

    /**
     * Changes the name and raises the version, where `versions` has the present one or is null. Answers what became of
     * it; `state` is the present one when it is another version, null when the project has no such knowledge base.
     */
    async update(
      project: ProjectId,
      id: string,
      change: { name?: string | undefined },
      versions: readonly number[] | null,
    ): Promise<{ result: "changed" | "stale" | "taken"; state: KbState | null }> {
      try {
        const rows = await db.query(
          `UPDATE kbs SET name = coalesce($3, name), version = version + 1, updated_at = now()
           WHERE project_id = $1 AND id = $2 AND deleted_at IS NULL AND ($4::integer[] IS NULL OR version = ANY ($4))
           RETURNING id`,
          [project, id, change.name ?? null, versions],
        );
        return { result: rows.length === 0 ? "stale" : "changed", state: await findState(project, id) };
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        return { result: "taken", state: await findState(project, id) };
      }
    },

    /**
     * Deletes a knowledge base, where `versions` has its present version or is null: nobody finds it from then on, its
     * name is free, and no agent has it any more. What is in it is removed by `purge`, so that this takes no longer
     * however large it is. False when there is none of these versions.
     */
    remove(project: ProjectId, id: string, versions: readonly number[] | null): Promise<boolean> {
      return db.transaction(async (tx) => {
        // The name is part of a key, so this waits for whoever is putting a document into it, and for whoever hands one in.
        const rows = await tx.query(
          `UPDATE kbs SET deleted_at = now(), name = '${DELETED_PREFIX}' || id
           WHERE project_id = $1 AND id = $2 AND deleted_at IS NULL AND ($3::integer[] IS NULL OR version = ANY ($3))
           RETURNING id`,
          [project, id, versions],
        );
        if (rows.length === 0) return false;
        await tx.query(
          `UPDATE agents SET kb_ids = array_remove(kb_ids, $2::uuid), version = version + 1
           WHERE project_id = $1 AND $2::uuid = ANY (kb_ids)`,
          [project, id],
        );
        return true;
      });
    },

    /**
     * Removes some of what deleted knowledge bases of all projects held, in short transactions. True when there may be
     * more to remove.
     */
    purge(): Promise<boolean> {
      return db.transaction(async (tx) => {
        // One process at a time: what another one is deleting right now would look like the end of a step.
        const [kb] = await tx.query<{ id: string }>(
          "SELECT id FROM kbs WHERE deleted_at IS NOT NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
        );
        if (kb === undefined) return false;
        for (const step of PURGE_STEPS) if ((await tx.query(step, [kb.id])).length > 0) return true;
        return false;
      });
    },
  };
}

/** Locks a knowledge base against its deletion until the commit, and nobody else. Throws not_found. */
export async function holdKb(tx: Db, project: ProjectId, kbId: string): Promise<void> {
  const rows = await tx.query(
    "SELECT id FROM kbs WHERE project_id = $1 AND id = $2 AND deleted_at IS NULL FOR KEY SHARE",
    [project, kbId],
  );
  if (rows.length === 0) throw new ServiceError("not_found", "No knowledge base with this ID exists in this project.");
}

function asKb(row: KbRow): Kb {
  return {
    id: row.id,
    name: row.name,
    documentCount: row.document_count,
    chunkCount: row.chunk_count,
    languages: row.languages,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
  };
}

function asKbState(row: KbStateRow): KbState {
  return {
    id: row.id,
    name: row.name,
    documentCount: row.document_count,
    chunkCount: row.chunk_count,
    queuedCount: row.queued_count,
    failedCount: row.failed_count,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
  };
}

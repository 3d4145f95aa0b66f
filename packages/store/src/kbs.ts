import type { Db } from "./db.ts";
import { newId } from "./ids.ts";
import type { ProjectId } from "./ids.ts";

/** A knowledge base: documents that agents answer from. */
export interface Kb {
  id: string;
  name: string;
  documentCount: number;
  chunkCount: number;
  /** Languages of its documents so far (ISO 639-1): a query is stemmed as each of them. */
  languages: string[];
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

const COLUMNS = "id, name, document_count, chunk_count, languages, created_at, updated_at, version";

/** Knowledge bases of a project. */
export function kbsTable(db: Db) {
  return {
    /** Makes a knowledge base, or answers the one of this project that has this name. */
    async ensure(project: ProjectId, name: string): Promise<{ kb: Kb; created: boolean }> {
      const made = await db.query<KbRow>(
        `INSERT INTO kbs (id, project_id, name) VALUES ($1, $2, $3) ON CONFLICT (project_id, name) DO NOTHING
         RETURNING ${COLUMNS}`,
        [newId(), project, name],
      );
      const row = made[0];
      if (row !== undefined) return { kb: asKb(row), created: true };
      const found = await db.query<KbRow>(`SELECT ${COLUMNS} FROM kbs WHERE project_id = $1 AND name = $2`, [
        project,
        name,
      ]);
      const existing = found[0];
      if (existing === undefined) throw new Error(`knowledge base ${name} vanished while it was made`);
      return { kb: asKb(existing), created: false };
    },

    /** All knowledge bases of a project by name. */
    async list(project: ProjectId): Promise<Kb[]> {
      const rows = await db.query<KbRow>(`SELECT ${COLUMNS} FROM kbs WHERE project_id = $1 ORDER BY name`, [project]);
      return rows.map(asKb);
    },

    /** Those of these knowledge bases that this project has. Others are left out silently: a search sees only its own. */
    async findAll(project: ProjectId, ids: readonly string[]): Promise<Kb[]> {
      const rows = await db.prepared<KbRow>(
        "kbs_find_all",
        `SELECT ${COLUMNS} FROM kbs WHERE project_id = $1 AND id = ANY ($2::uuid[]) ORDER BY name`,
        [project, ids],
      );
      return rows.map(asKb);
    },
  };
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

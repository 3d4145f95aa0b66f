import type { SavedView } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

interface ViewRow {
  name: string;
  project: string | null;
  part: string;
  filters: SavedView["filters"];
}

/** Views of the inbox that operators have saved, each their own. */
export function operatorViewsTable(db: Db) {
  return {
    /** An operator's views, in the order in which they were saved; those of deleted projects are left out. */
    async list(operatorId: string): Promise<SavedView[]> {
      const rows = await db.query<ViewRow>(
        `SELECT v.name, p.name AS project, v.part, v.filters
         FROM operator_views v LEFT JOIN projects p ON p.id = v.project_id
         WHERE v.operator_id = $1 AND (v.project_id IS NULL OR p.deleted_at IS NULL)
         ORDER BY v.created_at, v.name COLLATE "C"`,
        [operatorId],
      );
      return rows.map(({ name, project, part, filters }) => ({ name, project, view: part, filters }));
    },

    /**
     * Keeps a view in the place of the one of the same name; `project` null for one of all projects. False where the
     * operator has `maxCount` others already. Locks the operator's row, so that two calls at once cannot both be the last.
     */
    put(
      operatorId: string,
      { name, view, filters }: Omit<SavedView, "project">,
      { project, maxCount }: { project: ProjectId | null; maxCount: number },
    ): Promise<boolean> {
      return db.transaction(async (tx) => {
        await tx.query("SELECT 1 FROM operators WHERE id = $1 FOR NO KEY UPDATE", [operatorId]);
        const rows = await tx.query(
          `INSERT INTO operator_views (operator_id, name, project_id, part, filters)
           SELECT $1::uuid, $2::text, $3::uuid, $4::text, $5::jsonb
           WHERE (SELECT count(*) FROM operator_views WHERE operator_id = $1 AND name <> $2) < $6
           ON CONFLICT (operator_id, name) DO UPDATE SET project_id = EXCLUDED.project_id, part = EXCLUDED.part,
             filters = EXCLUDED.filters
           RETURNING 1`,
          [operatorId, name, project, view, JSON.stringify(filters), maxCount],
        );
        return rows.length > 0;
      });
    },

    /** Deletes a view; false where the operator has none of this name. */
    async remove(operatorId: string, name: string): Promise<boolean> {
      const rows = await db.query("DELETE FROM operator_views WHERE operator_id = $1 AND name = $2 RETURNING 1", [
        operatorId,
        name,
      ]);
      return rows.length > 0;
    },
  };
}

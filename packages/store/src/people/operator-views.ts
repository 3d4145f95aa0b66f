import type { SavedView } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("people/operator-views");

interface ViewRow {
  name: string;
  project: string | null;
  part: string;
  filters: SavedView["filters"];
}

/** An operator's views, in the order in which they were saved; those of deleted projects are left out. */
export async function list(db: Db, operatorId: string): Promise<SavedView[]> {
  const rows = await sql.list.all<ViewRow>(db, { operatorId });
  return rows.map(({ name, project, part, filters }) => ({ name, project, view: part, filters }));
}

/**
 * Keeps a view in the place of the one of the same name; `project` null for one of all projects. False where the
 * operator has `maxCount` others already. Locks the operator's row, so that two calls at once cannot both be the last.
 */
export function put(
  db: Db,
  operatorId: string,
  { name, view, filters }: Omit<SavedView, "project">,
  { project, maxCount }: { project: ProjectId | null; maxCount: number },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    await sql.put.run(tx, { operatorId });
    return (
      (await sql.insertOperatorViews.run(tx, {
        operatorId,
        name,
        project,
        view,
        filters: JSON.stringify(filters),
        maxCount,
      })) > 0
    );
  });
}

/** Deletes a view; false where the operator has none of this name. */
export async function remove(db: Db, operatorId: string, name: string): Promise<boolean> {
  return (await sql.remove.run(db, { operatorId, name })) > 0;
}

import { findTables } from "./copied-tables.ts";
import { onCopyClient } from "./copy-client.ts";
import type { CopyPlace } from "./copy-client.ts";

/** How many rows each of these tables of ours has; those that are not there are left out. Reads each of them whole. */
export function countStoreRows(place: CopyPlace, names: readonly string[]): Promise<Map<string, number>> {
  return onCopyClient(place, "svc-backup", async (client) => {
    const { all } = await findTables(client);
    const counts = new Map<string, number>();
    for (const name of names.filter((wanted) => all.includes(wanted))) {
      const { rows } = await client.query<{ count: string }>(
        `SELECT count(*) AS count FROM ${client.escapeIdentifier(name)}`,
      );
      counts.set(name, Number(rows[0]?.count ?? 0));
    }
    return counts;
  });
}

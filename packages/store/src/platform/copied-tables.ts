import type pg from "pg";
import { findOwnObjects } from "./migrations.ts";
import { StoreCopyError } from "./store-copy-error.ts";

/**
 * Tables that no copy holds, and why. Besides, none holds an unlogged table: it has what is true for seconds only, and
 * what a crash of the database takes away at any time.
 */
export const LEFT_OUT = {
  instances: "which processes live is true for seconds",
  processes: "which processes run, or have vanished, is true of the machine that they ran on",
  service_leases: "leases of the copied process are no longer valid",
  operator_sessions: "a session that was ended after the copy was made must not be restored: operators sign in again",
  operator_links: "a link that was used after the copy was made must not be valid again",
} as const satisfies Record<string, string>;

/** One table of a copy. */
export interface CopiedTable {
  name: string;
  /** In the order of their values in each row. */
  columns: string[];
  /** The last value of the sequence of each identity column that has given any out. */
  sequences: Record<string, number>;
}

interface CatalogRow {
  name: string;
  is_unlogged: boolean;
  columns: string[];
  identities: string[];
  /** The tables that its foreign keys point to. */
  parents: string[];
}

// What PostgreSQL computes by itself cannot be copied into a table.
const READ_CATALOG = `
  SELECT c.relname::text AS name, c.relpersistence = 'u' AS is_unlogged,
    ARRAY(SELECT a.attname::text FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      ORDER BY a.attnum) AS columns,
    ARRAY(SELECT a.attname::text FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity <> ''
      ORDER BY a.attnum) AS identities,
    ARRAY(SELECT DISTINCT p.relname::text FROM pg_constraint k JOIN pg_class p ON p.oid = k.confrelid
      WHERE k.conrelid = c.oid AND k.contype = 'f' AND p.oid <> c.oid) AS parents
  FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname = ANY ($1::text[])
  ORDER BY c.relname`;

/** A table as it is in a database. */
export interface FoundTable {
  name: string;
  columns: string[];
  identities: string[];
}

/** The product's own tables in a database. */
export interface FoundTables {
  /** What a copy holds; each table after those that its foreign keys point to. */
  copied: FoundTable[];
  /** All of them, also those that no copy holds. */
  all: string[];
}

/** Puts each table after its parents. Throws when they point at each other in a circle. */
function inOrder(rows: readonly CatalogRow[]): CatalogRow[] {
  const ordered: CatalogRow[] = [];
  const waiting = new Map(rows.map((row) => [row.name, row]));
  while (waiting.size > 0) {
    const free = [...waiting.values()].filter(({ parents }) => !parents.some((parent) => waiting.has(parent)));
    if (free.length === 0) {
      throw new StoreCopyError("bad_copy", `Foreign keys go round in a circle: ${[...waiting.keys()].join(", ")}.`);
    }
    for (const row of free) waiting.delete(row.name);
    ordered.push(...free);
  }
  return ordered;
}

/** Looks up the product's own tables in the catalog of a database, whatever its schema's version. */
export async function findTables(client: pg.Client): Promise<FoundTables> {
  const own = await findOwnObjects();
  const { rows } = await client.query<CatalogRow>(READ_CATALOG, [[...own.tables]]);
  return {
    copied: inOrder(rows)
      .filter(({ name, is_unlogged }) => !is_unlogged && !(name in LEFT_OUT))
      .map(({ name, columns, identities }) => ({ name, columns, identities })),
    all: rows.map(({ name }) => name),
  };
}

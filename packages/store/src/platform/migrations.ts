import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of the migrations, one file of SQL each. */
export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL("../../migrations", import.meta.url));

/** The table in which a database keeps the names of the migrations that it has had. */
export const MIGRATIONS_TABLE = "schema_migrations";

/** Number of the advisory lock of whoever changes the schema: the one that node-pg-migrate takes. */
export const MIGRATION_LOCK = "7241865325823964";

/** Names of the migrations that this version brings, in order. */
export async function bundledMigrations(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_DIRECTORY);
  return files
    .filter((file) => file.endsWith(".sql"))
    .map((file) => file.slice(0, -".sql".length))
    .sort();
}

/** The SQL of one of the `bundledMigrations`. They go forward only, so that the whole file is to be run. */
export function readMigration(name: string): Promise<string> {
  return readFile(join(MIGRATIONS_DIRECTORY, `${name}.sql`), "utf8");
}

/** What the migrations of this version make, whether or not a later one takes it away again. */
export interface OwnObjects {
  tables: Set<string>;
  functions: Set<string>;
}

/**
 * Names what is the product's own in a database, so that what somebody else keeps beside it is neither read nor removed.
 * It is read from the migrations, so that none can be forgotten.
 */
export async function findOwnObjects(): Promise<OwnObjects> {
  const own: OwnObjects = { tables: new Set(), functions: new Set() };
  for (const name of await bundledMigrations()) {
    const text = await readMigration(name);
    for (const [, table = ""] of text.matchAll(/^\s*CREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)/gim)) {
      own.tables.add(table);
    }
    for (const [, made = ""] of text.matchAll(/^\s*CREATE (?:OR REPLACE )?FUNCTION (\w+)/gim)) own.functions.add(made);
  }
  return own;
}

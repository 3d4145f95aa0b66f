import { randomBytes } from "node:crypto";
import { Pool } from "pg";
import { createDatabase, dropDatabase, ensureDatabase, urlOfDatabase } from "./admin-database.ts";
import { askSharedServer } from "./shared-servers.ts";
import { holdResource } from "./held-resources.ts";

/** More than any test uses concurrently while its other statements wait for a lock. */
const MAX_CONNECTIONS = 10;
const pools = new Map<string, Pool>();

/**
 * Runs one statement on a database and returns its rows. Connections are kept until the test file ends, because opening
 * one costs a server more than the statement.
 */
export async function queryDatabase<Row extends object = Record<string, unknown>>(
  databaseUrl: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await poolOf(databaseUrl).query<Row>(text, values)).rows;
}

function poolOf(databaseUrl: string): Pool {
  const known = pools.get(databaseUrl);
  if (known !== undefined) return known;
  const pool = new Pool({ connectionString: databaseUrl, max: MAX_CONNECTIONS, allowExitOnIdle: true });
  // Tests stop servers and drop databases: the end of an idle connection is expected.
  pool.on("error", () => undefined);
  pools.set(databaseUrl, pool);
  holdResource(null, async () => {
    pools.delete(databaseUrl);
    await pool.end();
  });
  return pool;
}

/** A migrated database on the Postgres of this run. */
export interface TestDatabase {
  readonly url: string;
  /** Drops it, and terminates its connections. */
  drop(): Promise<void>;
}

/** Initial rows of many test files: created once per run, then copied. */
export interface DatabaseStart {
  /** Identifies the content: the same name must have the same rows. Letters, digits and underscores. */
  name: string;
  /** Writes them to a migrated database. Must close its connections. */
  fill(url: string): Promise<void>;
}

/** Creates a database with all tables and only the rows of the migrations and of `start`. Drop it in `afterAll`. */
export async function createTestDatabase(start?: DatabaseStart): Promise<TestDatabase> {
  const { adminUrl, template, prefix } = await askSharedServer("postgres");
  const name = `${prefix}${randomBytes(6).toString("hex")}`;
  const original =
    start === undefined
      ? template
      : await ensureDatabase(adminUrl, {
          name: `${template}_${start.name}`,
          template,
          fill: (database) => start.fill(urlOfDatabase(adminUrl, database)),
        });
  await createDatabase(adminUrl, name, original);
  const drop = () => dropDatabase(adminUrl, name);
  const release = holdResource(`test database ${name}`, drop);
  return {
    url: urlOfDatabase(adminUrl, name),
    async drop() {
      await drop();
      release();
    },
  };
}

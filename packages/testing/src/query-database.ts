import { Pool } from "pg";
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

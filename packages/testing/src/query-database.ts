import { Pool } from "pg";
import { holdResource } from "./held-resources.ts";

/** More than any test asks at once while others of its statements wait for a lock. */
const MAX_CONNECTIONS = 10;
const pools = new Map<string, Pool>();

/**
 * Looks at a database from outside: runs one statement and returns its rows. Connections are kept until the test file
 * ends, since making one costs a server more than the statement does.
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
  // Tests end servers and drop databases: an idle connection that ends with them says nothing of what is tested.
  pool.on("error", () => undefined);
  pools.set(databaseUrl, pool);
  holdResource(null, async () => {
    pools.delete(databaseUrl);
    await pool.end();
  });
  return pool;
}

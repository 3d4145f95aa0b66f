import pg from "pg";
import { errorCode } from "@svc/primitives";

const CONNECT_TIMEOUT_MS = 5_000;

/** Other traffic on the pooler may hide in one round that it shares connections, but hardly in all of them. */
const ROUNDS = 3;

/**
 * What a connection pooler between this program and PostgreSQL does. `session`: a connection has a server process to
 * itself. `transaction`: each transaction may get another one (transaction or statement mode), so that `LISTEN`, session
 * locks and settings do not hold.
 */
export type PoolerMode = "session" | "transaction";

/**
 * True for the error of a pooler that rejects a startup parameter. PgBouncer sends SQLSTATE 08P01 with the text
 * "unsupported startup parameter".
 */
export function isRejectedSetting(error: unknown): boolean {
  const code = errorCode(error);
  return error instanceof Error && code === "08P01" && /startup parameter/i.test(error.message);
}

async function readPid(client: pg.Client): Promise<number> {
  // Without a name: a named statement would collide with one that another client has prepared on this connection.
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? 0;
}

async function connect(url: string): Promise<pg.Client & { processID?: number | null }> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  });
  await client.connect();
  return client;
}

/** True if the server process of a connection serves another one as well. */
async function sharesConnections(url: string, first: pg.Client): Promise<boolean> {
  const second = await connect(url);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const before = await readPid(first);
      await second.query("BEGIN");
      const held = await readPid(second);
      // A pool of one connection would keep the next statement waiting.
      const during = held === before ? held : await readPid(first);
      await second.query("ROLLBACK");
      if (held === before || during !== before) return true;
    }
    return false;
  } finally {
    await second.end();
  }
}

/**
 * Returns the mode of the pooler between here and PostgreSQL, or null if there is none. A pooler is recognized by the
 * process ID that it gives a client to cancel its statements, which is not that of a server process. Rejects as pg does
 * when the server cannot be reached.
 */
export async function findPooler(databaseUrl: string): Promise<PoolerMode | null> {
  const first = await connect(databaseUrl);
  try {
    if (first.processID === (await readPid(first))) return null;
    return (await sharesConnections(databaseUrl, first)) ? "transaction" : "session";
  } finally {
    await first.end();
  }
}

/** `server_version_num` of 18.4 is 180004. */
const NUMBERS_A_MAJOR = 10_000;

/** The version of a PostgreSQL, as it says it and as a number. It stands in no table of ours. Rejects as pg does. */
export async function readPostgresVersion(url: string): Promise<{ text: string; major: number }> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await client.connect();
  try {
    const { rows } = await client.query<{ text: string; number: string }>(
      "SELECT current_setting('server_version') AS text, current_setting('server_version_num') AS number",
    );
    return { text: rows[0]?.text ?? "unknown", major: Math.floor(Number(rows[0]?.number) / NUMBERS_A_MAJOR) };
  } finally {
    await client.end();
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import { Client, DatabaseError, escapeIdentifier } from "pg";

/** SQLSTATE object_in_use: the database has other connections. */
const OBJECT_IN_USE = "55006";
const TRIALS = 50;
const PAUSE_MS = 100;

/** Returns the URL of another database on the same server, with the same user. */
export function urlOfDatabase(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** Runs one statement on a connection of its own. Names of databases cannot be parameters: quote them. */
export const runAsAdmin = (adminUrl: string, text: string, values: unknown[] = []): Promise<unknown[]> =>
  onAdminConnection(adminUrl, async (client) => (await client.query<Record<string, unknown>>(text, values)).rows);

async function onAdminConnection<Result>(adminUrl: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs a statement that requires a database without connections: waits until existing ones are closed. */
async function waitOutConnections(statement: () => Promise<unknown>): Promise<void> {
  for (let trial = 1; ; trial++) {
    try {
      await statement();
      return;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== OBJECT_IN_USE || trial === TRIALS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/**
 * True if copying a database as files is faster. That takes a fifth of the CPU time of PostgreSQL's default since 15, a
 * copy through the log, but needs two checkpoints, which are cheap only on a server that does not wait for its disk.
 */
const CAN_COPY_FILES = `
  SELECT current_setting('server_version_num')::int >= 150000 AND current_setting('fsync') = 'off' AS files`;

/** Creates a database, optionally as a copy of another one, whose connections must be closed first. */
export function createDatabase(adminUrl: string, name: string, template?: string): Promise<void> {
  const create = `CREATE DATABASE ${escapeIdentifier(name)}`;
  return onAdminConnection(adminUrl, async (client) => {
    const { rows } = await client.query<{ files: boolean }>(CAN_COPY_FILES);
    const strategy = rows[0]?.files === true ? " STRATEGY file_copy" : "";
    const copying = template === undefined ? "" : ` TEMPLATE ${escapeIdentifier(template)}${strategy}`;
    await waitOutConnections(() => client.query(`${create}${copying}`));
  });
}

/**
 * Creates a database for test files to copy, unless one of them already has: of concurrent calls, one creates it and
 * the others wait. It gets its name when it is complete, so that a partial one is never copied. Returns the name.
 */
export async function ensureDatabase(
  adminUrl: string,
  options: { name: string; template: string; fill: (database: string) => Promise<void> },
): Promise<string> {
  const { name, template, fill } = options;
  const isThere = async () =>
    (await runAsAdmin(adminUrl, "SELECT FROM pg_database WHERE datname = $1", [name])).length > 0;
  if (await isThere()) return name;
  return onAdminConnection(adminUrl, async (client) => {
    // Held until the connection ends, also when its process is killed.
    await client.query("SELECT pg_advisory_lock(hashtextextended($1, 0))", [name]);
    if (await isThere()) return name;
    const unfinished = `${name}_unfinished`;
    await dropDatabase(adminUrl, unfinished);
    await createDatabase(adminUrl, unfinished, template);
    await fill(unfinished);
    const rename = `ALTER DATABASE ${escapeIdentifier(unfinished)} RENAME TO ${escapeIdentifier(name)}`;
    await waitOutConnections(() => client.query(rename));
    return name;
  });
}

/**
 * Drops a database and terminates its connections. `WITH (FORCE)` requires a superuser while autovacuum works in it; a
 * plain `DROP DATABASE` terminates autovacuum.
 */
export function dropDatabase(adminUrl: string, name: string): Promise<void> {
  const endConnections =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND usename = current_user";
  return onAdminConnection(adminUrl, (client) =>
    waitOutConnections(async () => {
      await client.query(endConnections, [name]);
      await client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)}`);
    }),
  );
}

import { setTimeout as sleep } from "node:timers/promises";
import { Client, DatabaseError, escapeIdentifier } from "pg";

/** SQLSTATE object_in_use: somebody is still connected to the database. */
const OBJECT_IN_USE = "55006";
const TRIALS = 50;
const PAUSE_MS = 100;

/** The same server and user, another database. */
export function urlOfDatabase(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** Runs one statement on a connection of its own. Names of databases cannot be parameters: quote them. */
export async function runAsAdmin(adminUrl: string, text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Runs a statement on a database that nobody may be connected to: connections to it are waited out. `prepare` runs before
 * each trial.
 */
async function runOnUnused(adminUrl: string, text: string, prepare?: () => Promise<unknown>): Promise<void> {
  for (let trial = 1; ; trial++) {
    try {
      await prepare?.();
      await runAsAdmin(adminUrl, text);
      return;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== OBJECT_IN_USE || trial === TRIALS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** Makes a database, as a copy of another one where that is given. A connection to the original is waited out. */
export async function createDatabase(adminUrl: string, name: string, template?: string): Promise<void> {
  const copying = template === undefined ? "" : ` TEMPLATE ${escapeIdentifier(template)}`;
  await runOnUnused(adminUrl, `CREATE DATABASE ${escapeIdentifier(name)}${copying}`);
}

/**
 * Makes a database that test files copy, unless one of them has made it before; they ask at once, so that one makes it
 * and the others wait. It gets its name when it is full: what fails half-way is not copied. Answers the name.
 */
export async function ensureDatabase(
  adminUrl: string,
  options: { name: string; template: string; fill: (database: string) => Promise<void> },
): Promise<string> {
  const { name, template, fill } = options;
  const isThere = async () =>
    (await runAsAdmin(adminUrl, "SELECT FROM pg_database WHERE datname = $1", [name])).length > 0;
  if (await isThere()) return name;
  const client = new Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    // Held until the connection ends, also when its process is killed.
    await client.query("SELECT pg_advisory_lock(hashtextextended($1, 0))", [name]);
    if (await isThere()) return name;
    const unfinished = `${name}_unfinished`;
    await dropDatabase(adminUrl, unfinished);
    await createDatabase(adminUrl, unfinished, template);
    await fill(unfinished);
    await runOnUnused(adminUrl, `ALTER DATABASE ${escapeIdentifier(unfinished)} RENAME TO ${escapeIdentifier(name)}`);
    return name;
  } finally {
    await client.end();
  }
}

/**
 * Removes a database together with the connections to it. It is not dropped `WITH (FORCE)`, which only a superuser may do
 * while autovacuum works in it; a plain `DROP DATABASE` ends autovacuum.
 */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  const endConnections = () =>
    runAsAdmin(
      adminUrl,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND usename = current_user",
      [name],
    );
  await runOnUnused(adminUrl, `DROP DATABASE IF EXISTS ${escapeIdentifier(name)}`, endConnections);
}

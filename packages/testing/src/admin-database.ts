import { Client, DatabaseError, escapeIdentifier } from "pg";

/** SQLSTATE object_in_use: somebody is still connected to the database. */
const OBJECT_IN_USE = "55006";
const CREATE_TRIALS = 50;
const CREATE_PAUSE_MS = 100;

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

/** Makes a database, as a copy of another one where that is given. A connection to the original is waited out. */
export async function createDatabase(adminUrl: string, name: string, template?: string): Promise<void> {
  const copying = template === undefined ? "" : ` TEMPLATE ${escapeIdentifier(template)}`;
  for (let trial = 1; ; trial++) {
    try {
      await runAsAdmin(adminUrl, `CREATE DATABASE ${escapeIdentifier(name)}${copying}`);
      return;
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== OBJECT_IN_USE || trial === CREATE_TRIALS) throw error;
      await new Promise((resolve) => setTimeout(resolve, CREATE_PAUSE_MS));
    }
  }
}

/** Removes a database together with the connections to it. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await runAsAdmin(adminUrl, `DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`);
}

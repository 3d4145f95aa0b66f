import { Client } from "pg";
import type { QueryResultRow } from "pg";

/** Runs one statement on a connection of its own and returns its rows. */
export async function queryDatabase<Row extends QueryResultRow = QueryResultRow>(
  databaseUrl: string,
  sql: string,
  params: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(sql, params)).rows;
  } finally {
    await client.end();
  }
}

import pg from "pg";

const CONNECT_TIMEOUT_MS = 5_000;
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

import pg from "pg";
import { errorCode } from "@svc/primitives";

const CONNECT_TIMEOUT_MS = 5_000;

/** A setting of our own, so that no value of the server or of the URL can be mistaken for it. */
const PROBE = { name: "svc.pooler_probe", value: "kept" } as const;

/**
 * How a connection pooler between this program and PostgreSQL breaks it. `rejects_settings`: it refuses connections
 * that bring settings (PgBouncer's default). `loses_settings`: it drops them (`ignore_startup_parameters = options`).
 * `shares_connections`: it gives each transaction another server connection (transaction or statement mode).
 */
export type PoolerProblem = "rejects_settings" | "loses_settings" | "shares_connections";

/** What two connections that were open at the same time have shown. */
export interface ConnectionFacts {
  /** Whether the setting that the connection was opened with holds on it. */
  keepsSettings: boolean;
  /** The server process of the first connection, before and while the second one holds a transaction. */
  firstPids: readonly [number, number];
  /** The server process of the second connection. */
  secondPid: number;
}

/**
 * True for the error of a pooler that refuses the startup parameter `options`. PgBouncer sends SQLSTATE 08P01 with the
 * text "unsupported startup parameter".
 */
export function isRejectedSetting(error: unknown): boolean {
  const code = errorCode(error);
  return error instanceof Error && code === "08P01" && /startup parameter/i.test(error.message);
}

/** Returns what a pooler does to connections, or null where nothing speaks for one that breaks the product. */
export function judgeConnections({ keepsSettings, firstPids, secondPid }: ConnectionFacts): PoolerProblem | null {
  const [before, during] = firstPids;
  if (before !== during || before === secondPid) return "shares_connections";
  return keepsSettings ? null : "loses_settings";
}

async function readPid(client: pg.Client): Promise<number> {
  // Without a name: a named statement would collide with one that another client has prepared on this connection.
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid ?? 0;
}

/**
 * Looks for a pooler that breaks the product between here and PostgreSQL: opens two connections, one of them with a
 * setting, and compares their server processes. Returns null where there is none. Rejects as pg does when the server
 * cannot be reached.
 */
export async function findPooler(databaseUrl: string): Promise<PoolerProblem | null> {
  const url = new URL(databaseUrl);
  const options = `${url.searchParams.get("options") ?? ""} -c ${PROBE.name}=${PROBE.value}`.trim();
  url.searchParams.delete("options");
  const connect = async (settings: { options?: string }) => {
    const client = new pg.Client({
      connectionString: url.href,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: CONNECT_TIMEOUT_MS,
      ...settings,
    });
    await client.connect();
    return client;
  };
  let first: pg.Client;
  try {
    first = await connect({ options });
  } catch (error) {
    if (isRejectedSetting(error)) return "rejects_settings";
    throw error;
  }
  try {
    const { rows } = await first.query<{ value: string | null }>("SELECT current_setting($1, true) AS value", [
      PROBE.name,
    ]);
    const before = await readPid(first);
    const second = await connect({});
    try {
      await second.query("BEGIN");
      const secondPid = await readPid(second);
      // A pool of one connection would keep the next statement waiting.
      const during = secondPid === before ? before : await readPid(first);
      await second.query("ROLLBACK");
      const keepsSettings = rows[0]?.value === PROBE.value;
      return judgeConnections({ keepsSettings, firstPids: [before, during], secondPid });
    } finally {
      await second.end();
    }
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

import { findPooler, readPostgresVersion, readSchemaState } from "@svc/store";
import type { PoolerProblem, SchemaState } from "@svc/store";
import type { Cli } from "../cli.ts";
import type { Database, DatabaseOrigin } from "../with-database.ts";
import type { Check } from "./check.ts";

const NAME = "PostgreSQL";
const OLDEST = 14;

const ORIGINS: Record<DatabaseOrigin, string> = {
  configured: "from DATABASE_URL",
  running: "embedded, running",
  started: "embedded, started for this check",
};

function checkSchema(state: SchemaState, { self, startWith }: Cli): Check {
  const name = "Schema";
  const checks: Record<SchemaState, Check> = {
    current: { name, status: "ok", detail: "up to date" },
    newer: { name, status: "warn", detail: "newer than this version", advice: "Finish the upgrade of the product." },
    older: {
      name,
      status: "fail",
      detail: "missing, or older than this version",
      advice: `Run: ${self} migrate (or ${startWith}, which migrates automatically)`,
    },
  };
  return checks[state];
}

/** What a pooler breaks, for each way in which it does. */
const POOLER_DETAILS: Record<PoolerProblem, string> = {
  rejects_settings: "the connection pooler rejects connection settings, so that nothing can start",
  loses_settings: "the connection pooler drops connection settings, so that queues cannot find their tables",
  shares_connections:
    "the connection pooler shares connections between transactions, so that prepared statements, LISTEN and locks fail",
};

/** A failed check for a pooler that breaks the product. */
export function poolerCheck(problem: PoolerProblem): Check {
  const advice =
    "Use PostgreSQL's own host and port in DATABASE_URL instead of the pooler's. See docs/recipes/managed.md.";
  return { name: "Pooler", status: "fail", detail: POOLER_DETAILS[problem], advice };
}

/** Checks version, way to and schema of a database; rejects when it cannot be reached. */
export async function checkDatabase(
  cli: Cli,
  { origin, config }: Database,
): Promise<{ checks: Check[]; canOpen: boolean }> {
  const version = await readPostgresVersion(config.databaseUrl);
  const detail = `version ${version.text}, ${ORIGINS[origin]}`;
  const server: Check =
    version.major >= OLDEST
      ? { name: NAME, status: "ok", detail }
      : { name: NAME, status: "fail", detail, advice: `Upgrade to version ${OLDEST} or newer.` };
  const pooler = await findPooler(config.databaseUrl);
  // Everything else would fail for this reason, and say another one.
  if (pooler !== null) return { checks: [server, poolerCheck(pooler)], canOpen: false };
  const state = await readSchemaState(config.databaseUrl);
  return { checks: [server, checkSchema(state, cli)], canOpen: state !== "older" };
}

import { readPostgresVersion, readSchemaState } from "@svc/store";
import type { SchemaState } from "@svc/store";
import type { Cli } from "../cli.ts";
import type { Database, DatabaseOrigin } from "../with-database.ts";
import type { Check } from "./check.ts";

const NAME = "PostgreSQL";
const OLDEST = 14;

const ORIGINS: Record<DatabaseOrigin, string> = {
  configured: "the one of DATABASE_URL",
  running: "embedded, running",
  started: "embedded, started for this look",
};

function checkSchema(state: SchemaState, { self, startWith }: Cli): Check {
  const name = "Schema";
  const checks: Record<SchemaState, Check> = {
    current: { name, status: "ok", detail: "of this version" },
    newer: { name, status: "warn", detail: "newer than this version", advice: "Finish the upgrade of this program." },
    older: {
      name,
      status: "fail",
      detail: "not there, or older than this version",
      advice: `Run: ${self} migrate (or ${startWith}, which does it by itself)`,
    },
  };
  return checks[state];
}

/** Checks version and schema of a database; rejects when it cannot be reached. */
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
  const state = await readSchemaState(config.databaseUrl);
  return { checks: [server, checkSchema(state, cli)], canOpen: state !== "older" };
}

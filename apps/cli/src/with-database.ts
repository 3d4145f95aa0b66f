import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { findRunningPostgres, startEmbeddedPostgres } from "@svc/embedded";
import { createLog } from "@svc/log";
import type { Log } from "@svc/log";
import { ensureLocalSecretKey, localSecretKeyFile, readLocalSecretKey } from "@svc/operations";
import { loadConfig, readEnvironment } from "@svc/runtime";
import type { Config, EarlyConfig } from "@svc/runtime";
import type { Cli } from "./cli.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";
import { watchInterrupt } from "./watch-interrupt.ts";
import { withLogLevel } from "./with-log-level.ts";

/** Whose PostgreSQL it is: the one that DATABASE_URL names, the one of a running product, or one started for now. */
export type DatabaseOrigin = "configured" | "running" | "started";

/** The database that a command works on directly. */
export interface Database {
  origin: DatabaseOrigin;
  /** The configuration with everything that is needed to open the store. */
  config: Config;
  /** Silent unless SVC_LOG_LEVEL is set; on standard error, which is not for results. */
  log: Log;
  /** Aborts at Ctrl-C; only where the work has said that it `endsItself`. */
  signal: AbortSignal;
}

/** How a command uses the database. */
export interface DatabaseOptions {
  /** Whether it may make one where there is none yet. */
  mayCreate?: boolean;
  /** Whether the work looks after Ctrl-C by its `signal`, and is waited for; else it is left where it stands. */
  endsItself?: boolean;
}

/** For work that is left where it stands. */
const NEVER = new AbortController().signal;

/** Whether a data folder holds a database: PostgreSQL marks the folder of a cluster with this file. */
export function hasData(dataDir: string): boolean {
  return existsSync(join(dataDir, "postgres", "PG_VERSION"));
}

async function findOrStart(
  cli: Cli,
  early: EarlyConfig,
  log: Log,
  mayCreate: boolean,
): Promise<{ url: string; origin: DatabaseOrigin; close(): Promise<void> }> {
  const { dataDir } = early;
  const running = await findRunningPostgres(dataDir);
  if (running !== null) return { url: running.url, origin: "running", close: () => Promise.resolve() };
  if (!mayCreate && !hasData(dataDir)) {
    throw new CliError(
      "no_data",
      EXIT.failed,
      `There is no data in ${dataDir} yet. Start the service once with: ${cli.startWith}\n` +
        "If its data is elsewhere, set SVC_DATA_DIR, or DATABASE_URL and SVC_SECRET_KEY.",
    );
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Before the database is made, so that a crash in between leaves none without a key.
  if (early.secretKey === undefined) await ensureLocalSecretKey(dataDir, { hasData: hasData(dataDir) });
  cli.terminal.note("The service is not running; starting its PostgreSQL temporarily …");
  const started = await startEmbeddedPostgres({ dataDir, log, onProgress: (text) => cli.terminal.note(text) });
  return { url: started.url, origin: "started", close: () => started.stop() };
}

/** The secret key of a data folder whose database runs, as a setting. */
async function secretKeyOf({ dataDir }: EarlyConfig): Promise<{ SVC_SECRET_KEY_FILE: string }> {
  if ((await readLocalSecretKey(dataDir)) !== null) return { SVC_SECRET_KEY_FILE: localSecretKeyFile(dataDir) };
  throw new CliError(
    "no_secret_key",
    EXIT.configuration,
    `The service running on ${dataDir} uses a different secret key. Set SVC_SECRET_KEY to the same value.`,
  );
}

/**
 * Gives a command the database to work on: the one that DATABASE_URL names, else the PostgreSQL of the data folder,
 * which is joined where it runs and else started for the moment. What was started is stopped again, also at Ctrl-C.
 * Throws ConfigError, CliError `no_data`, SecretKeyMissingError, DataFolderInUseError and EmbeddedPostgresError.
 */
export async function withDatabase<Result>(
  cli: Cli,
  { mayCreate = false, endsItself = false }: DatabaseOptions,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const environment = withLogLevel(cli.env, "silent");
  const early = readEnvironment(environment);
  const log = createLog({ level: early.logLevel, name: "cli", destination: process.stderr });
  if (early.databaseUrl !== undefined && !endsItself) {
    return work({ origin: "configured", config: loadConfig(environment), log, signal: NEVER });
  }

  const interrupt = watchInterrupt();
  const run = (database: Omit<Database, "log" | "signal">): Promise<Result> =>
    endsItself
      ? work({ ...database, log, signal: interrupt.signal })
      : interrupt.race(work({ ...database, log, signal: NEVER }));
  try {
    if (early.databaseUrl !== undefined) return await run({ origin: "configured", config: loadConfig(environment) });
    const server = await findOrStart(cli, early, log, mayCreate);
    try {
      const secret = early.secretKey === undefined ? await secretKeyOf(early) : {};
      const config = loadConfig({ ...environment, ...secret, DATABASE_URL: server.url });
      return await run({ origin: server.origin, config });
    } finally {
      await server.close();
    }
  } finally {
    interrupt.release();
  }
}

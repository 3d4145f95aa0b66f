import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { localAdministrator } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { findRunningPostgres, startEmbeddedPostgres } from "@svc/embedded";
import { createLog } from "@svc/log";
import type { Log } from "@svc/log";
import { ensureLocalSecretKey, localSecretKeyFile, readLocalSecretKey } from "@svc/operations";
import { closeResources, loadConfig, openResources, readEnvironment } from "@svc/runtime";
import type { Config, EarlyConfig, Resources } from "@svc/runtime";
import { DEFAULT_PROJECT } from "@svc/store";
import type { Store } from "@svc/store";
import { CliError, EXIT, failure, watchInterrupt } from "./cli.ts";
import type { Cli, Environment } from "./cli.ts";
import { safeLine } from "./terminal.ts";

/** Returns the environment with this log level, unless it sets one itself. */
export function withLogLevel(env: Environment, level: "silent" | "warn"): Environment {
  const isSet = [env["SVC_LOG_LEVEL"], env["SVC_LOG_LEVEL_FILE"]].some((value) => value !== undefined && value !== "");
  return isSet ? env : { ...env, SVC_LOG_LEVEL: level };
}

/** Origin of the database: configured by DATABASE_URL, that of a running product, or started for this command. */
export type DatabaseOrigin = "configured" | "running" | "started";

/** The database that a command uses directly. */
export interface Database {
  origin: DatabaseOrigin;
  /** The configuration with everything needed to open the store. */
  config: Config;
  /** Silent unless SVC_LOG_LEVEL is set; logs to standard error, since standard output has the result. */
  log: Log;
  /** Aborted by Ctrl-C, only if the work sets `endsItself`. */
  signal: AbortSignal;
}

/** Options of using the database. */
interface DatabaseOptions {
  /** Whether a new database may be created. */
  mayCreate?: boolean;
  /** Whether the work handles Ctrl-C by its `signal`, and is waited for; otherwise it is abandoned. */
  endsItself?: boolean;
}

/** For work that is abandoned on Ctrl-C. */
const NEVER = new AbortController().signal;

/** Returns true if a data folder has a database: PostgreSQL marks the folder of a cluster with this file. */
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
    throw failure(
      "no_data",
      `There is no data in ${dataDir} yet. Start the service once with: ${cli.startWith}\n` +
        "If its data is elsewhere, set SVC_DATA_DIR, or DATABASE_URL and SVC_SECRET_KEY.",
    );
  }
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // Before the database is created, so that a crash leaves none without a key.
  if (early.secretKey === undefined) await ensureLocalSecretKey(dataDir, { hasData: hasData(dataDir) });
  cli.terminal.note("The service is not running; starting its PostgreSQL temporarily …");
  const started = await startEmbeddedPostgres({ dataDir, log, onProgress: (text) => cli.terminal.note(text) });
  return { url: started.url, origin: "started", close: () => started.stop() };
}

/** Returns the secret key of a data folder with a running database, as a setting. */
async function secretKeyOf({ dataDir }: EarlyConfig): Promise<{ SVC_SECRET_KEY_FILE: string }> {
  if ((await readLocalSecretKey(dataDir)) !== null) return { SVC_SECRET_KEY_FILE: localSecretKeyFile(dataDir) };
  throw new CliError(
    "no_secret_key",
    EXIT.configuration,
    `The service running on ${dataDir} uses a different secret key. Set SVC_SECRET_KEY to the same value.`,
  );
}

/**
 * Opens the database of a command: the one at DATABASE_URL, otherwise the PostgreSQL of the data folder, which is
 * started for the command unless it is running. It is stopped afterwards, also on Ctrl-C. Throws ConfigError,
 * CliError `no_data`, SecretKeyMissingError, DataFolderInUseError and EmbeddedPostgresError.
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

/**
 * Opens store and queues on a database, and closes them after the work. Throws StartError for an incompatible schema
 * or key.
 */
export async function onDatabase<Result>(
  { config, log }: Database,
  work: (resources: Resources) => Promise<Result>,
): Promise<Result> {
  const resources = await openResources(config, { app: "cli", log, waits: false });
  try {
    return await work(resources);
  } finally {
    await closeResources(resources);
  }
}

/** Combines `withDatabase` and `onDatabase`. `prepare` runs before the store is opened. */
export function withResources<Result>(
  cli: Cli,
  options: DatabaseOptions & { prepare?: (database: Database) => Promise<void> },
  work: (resources: Resources, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return withDatabase(cli, options, async (database) => {
    await options.prepare?.(database);
    return onDatabase(database, (resources) => work(resources, database.signal));
  });
}

/**
 * Returns the principal of the person at this machine, on a project or on the whole installation. Throws CliError
 * `not_found` with the existing projects.
 */
export async function localPrincipal(store: Store, projectName: string = DEFAULT_PROJECT): Promise<Principal> {
  const project = await store.projects.findByName(projectName);
  if (project !== null) return localAdministrator(project);
  const projects = await store.projects.list();
  const advice =
    projects.length === 0
      ? "There are no projects yet. Run init to create the first one."
      : `Projects: ${projects.map(({ name }) => name).join(", ")}.`;
  throw failure("not_found", `No project is named "${safeLine(projectName, 80)}". ${advice}`);
}

/** Returns the folder of the product's documentation. Loads the standalone, which most commands do not need. */
export async function findGuideDir(): Promise<string> {
  return (await (await import("@svc/standalone")).loadStandalone()).GUIDE_DIR;
}

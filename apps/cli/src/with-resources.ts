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
import { CliError, EXIT, failure, watchInterrupt } from "./cli-error.ts";
import type { Cli, Environment } from "./cli.ts";
import { safeLine } from "./safe-text.ts";

/** The environment with this log level, unless it names one itself. */
export function withLogLevel(env: Environment, level: "silent" | "warn"): Environment {
  const isSet = [env["SVC_LOG_LEVEL"], env["SVC_LOG_LEVEL_FILE"]].some((value) => value !== undefined && value !== "");
  return isSet ? env : { ...env, SVC_LOG_LEVEL: level };
}

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
interface DatabaseOptions {
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
    throw failure(
      "no_data",
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

/** Opens store and queues on a database, and closes them after the work. Throws StartError for a schema or key that do not fit. */
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

/** What `withDatabase` and `onDatabase` do, in one step. `prepare` runs before the store is opened. */
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
 * The person at this machine, working on a project, or on what belongs to the installation as a whole. Throws CliError
 * `not_found`, which names the projects there are.
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

/** Returns the folder of the product's guide. Loads the whole product, which most commands do without. */
export async function findGuideDir(): Promise<string> {
  return (await import("@svc/standalone")).GUIDE_DIR;
}

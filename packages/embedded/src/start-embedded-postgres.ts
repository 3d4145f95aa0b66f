import { acquireDataFolder } from "./acquire-data-folder.ts";
import type { DataFolderLock } from "./acquire-data-folder.ts";
import {
  canHaveSocket,
  checkClusterVersion,
  clusterDirOf,
  connectionUrl,
  createCluster,
  ensureDatabase,
  ensureRole,
  changeDatabaseOwner,
  hasCluster,
  markOfPassword,
  newPassword,
  protectPassword,
  readPassword,
  readState,
  serverArguments,
  writePassword,
  writeState,
} from "./cluster.ts";
import { choosePostgresAccount, claimCluster, EmbeddedPostgresError } from "./run-tool.ts";
import type { PostgresLogger } from "./run-tool.ts";
import { findBinaries, makeUsable } from "./find-binaries.ts";
import { acceptsConnections, launchOnSomePort, launchWithRetries } from "./launch-on-port.ts";
import type { ServerOnFolder } from "./launch-on-port.ts";
import { stopPostmaster, supervisePostmaster, waitForProcessEnd } from "./launch-postmaster.ts";
import type { PostgresExit, RunningPostmaster } from "./launch-postmaster.ts";
import { clearStalePostmasterFile, readLastCommand, formatCommand, waitForReady } from "./postmaster-file.ts";

const READY_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 2000;
const POLL_MS = 200;

/**
 * Finds a server that a killed owner left on this cluster. Adopts it if it accepts sign-ins, on the given port, and was
 * started by the same command; otherwise stops it and returns null.
 */
async function adoptOrStopOrphan(
  server: ServerOnFolder,
  wantedPort: number | undefined,
  mustStop: boolean,
): Promise<(RunningPostmaster & { port: number }) | null> {
  const { clusterDir, binaries, argumentsFor, log } = server;
  const found = await waitForReady(clusterDir, mustStop ? 0 : READY_TIMEOUT_MS);
  if (found === null) return null;
  const { identity, port, isReady } = found;
  const isFit =
    !mustStop &&
    isReady &&
    port !== null &&
    (wantedPort === undefined || wantedPort === port) &&
    (await readLastCommand(clusterDir)) === formatCommand(binaries.postgres, argumentsFor(port)) &&
    (await acceptsConnections(port, PROBE_TIMEOUT_MS));
  if (isFit) {
    log.info({ pid: identity.pid, port }, "Adopting a PostgreSQL server left by a killed process");
    const exited = waitForProcessEnd(identity, POLL_MS).then(() => ({ code: null, signal: null }));
    return { identity, exited, port };
  }
  log.info({ pid: identity.pid }, "Restarting a PostgreSQL server left by a killed process");
  await stopPostmaster(identity, binaries);
  return null;
}

/** State of the data folder at startup, and the requested database. */
type FoundCluster = {
  isNew: boolean;
  hasDatabase: boolean;
  /** Null if it is lost, or is not the one that an earlier start set. */
  password: string | null;
  /** True if an earlier start has set this password for a role that is not a superuser. */
  isRoleReady: boolean;
  database: string;
  /** Databases that earlier starts created. */
  knownDatabases: readonly string[];
};

/**
 * Creates or repairs everything that the server needs before it starts: the cluster, its owner, remains of a crash, the
 * product's role and the database. The server must not be running. Resolves to the role's password.
 *
 * Throws EmbeddedPostgresError `version_mismatch` or `tool_failed`.
 */
async function prepareCluster(
  dataDir: string,
  { clusterDir, binaries, account, log }: ServerOnFolder,
  found: FoundCluster,
  onProgress: (text: string) => void,
): Promise<string> {
  const password = found.password ?? newPassword();
  const tools = { dataDir, binaries, account };
  if (found.isNew) {
    onProgress("Creating the database (first start)");
    await createCluster(tools);
  } else {
    await checkClusterVersion(dataDir, binaries);
    await claimCluster(clusterDir, account);
    await clearStalePostmasterFile(clusterDir);
  }
  if (!found.isNew && found.password === null) {
    log.warn({ dataDir }, "The PostgreSQL password was missing or damaged; a new one is set");
  }
  if (!found.isRoleReady) {
    // Saved only when it is valid: after a crash before this, the next start sets another one.
    await ensureRole(tools, password);
    await writePassword(dataDir, password);
  }
  if (!found.hasDatabase) await ensureDatabase(tools, found.database);
  if (!found.isNew && !found.isRoleReady) {
    for (const database of new Set([...found.knownDatabases, found.database]))
      await changeDatabaseOwner(tools, database);
  }
  return password;
}

/** Options of `startEmbeddedPostgres`; only the first two are required. */
export type EmbeddedPostgresOptions = {
  /** The product's data folder; the cluster is in its subfolder `postgres`. */
  dataDir: string;
  log: PostgresLogger;
  /** The folder's lock, if the owner has acquired it already; else it is acquired here and released by `stop`. */
  lock?: DataFolderLock;
  /** Port on 127.0.0.1; by default the previous one if it is free, else any free one. */
  port?: number;
  /** Created if the cluster does not have it. Default: svc. */
  database?: string;
  /** Default: 60. */
  maxConnections?: number;
  /** Further settings of Postgres, by their names in postgresql.conf; addresses and logging cannot be changed. */
  settings?: Readonly<Record<string, string>>;
  /** Called with a description of each slow step of the first start. */
  onProgress?: (text: string) => void;
  /** Called when Postgres ends unexpectedly; it is restarted regardless. */
  onCrash?: (exit: PostgresExit) => void;
};

/** A Postgres that this process owns. The URLs contain the password. */
export type EmbeddedPostgres = {
  readonly url: string;
  /** The same role on the database `postgres`, for CREATE DATABASE. */
  readonly maintenanceUrl: string;
  readonly port: number;
  /** True if the server of a killed owner was adopted. */
  readonly adopted: boolean;
  /** The pid of the server, which changes after a crash. */
  readonly pid: number;
  /**
   * Stops the server (fast shutdown, within five seconds; immediate as the last resort) and releases the lock if the
   * start acquired it. No process is left. A second call waits for the first.
   */
  stop(): Promise<void>;
};

const DEFAULT_DATABASE = "svc";
const DEFAULT_MAX_CONNECTIONS = 60;

/**
 * Starts the PostgreSQL that comes with the product on a data folder, and keeps it running: the first start creates the
 * cluster, the role and the database; later ones take a fraction of a second. A folder left by a crash is recovered: a
 * server that lost its owner is adopted if it has the same settings, else it is restarted. If Postgres ends
 * unexpectedly, it is restarted on the same port. It listens on 127.0.0.1 and on a socket in its folder, and requires the random password in
 * `<dataDir>/postgres-password`. As root it runs as another user, also in a folder of mode 700.
 *
 * Throws DataFolderInUseError if another process owns the folder, EmbeddedPostgresError for errors that can be fixed.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const lock = options.lock ?? (await acquireDataFolder(options.dataDir));
  const releaseOwnLock = async () => {
    if (options.lock === undefined) await lock.release();
  };
  try {
    return await startOnFolder(lock.dataDir, options, releaseOwnLock);
  } catch (error) {
    await releaseOwnLock();
    throw error;
  }
}

/** Returns the state of the cluster in a folder, and the port of the last start. */
async function inspectFolder(
  dataDir: string,
  database: string,
): Promise<{ found: FoundCluster; formerPort: number | null }> {
  const state = await readState(dataDir);
  const isNew = !(await hasCluster(dataDir));
  const kept = isNew ? null : await readPassword(dataDir);
  const isRoleReady = kept !== null && state.passwordMark === markOfPassword(kept);
  const found = {
    isNew,
    hasDatabase: !isNew && state.databases.includes(database),
    // A changed password counts as lost. Without a hash, it is that of an earlier version.
    password: isRoleReady || state.passwordMark === null ? kept : null,
    isRoleReady,
    database,
    knownDatabases: isNew ? [] : state.databases,
  };
  return { found, formerPort: state.port };
}

async function startOnFolder(
  dataDir: string,
  options: EmbeddedPostgresOptions,
  releaseOwnLock: () => Promise<void>,
): Promise<EmbeddedPostgres> {
  const { log, onProgress = () => undefined, onCrash = () => undefined } = options;
  const { database = DEFAULT_DATABASE, maxConnections = DEFAULT_MAX_CONNECTIONS, settings = {} } = options;
  checkDatabaseName(database);
  const clusterDir = clusterDirOf(dataDir);
  const account = await choosePostgresAccount(dataDir, clusterDir);
  const binaries = await makeUsable(await findBinaries(), account, onProgress);
  const hasSocket = await canHaveSocket(dataDir);
  const argumentsFor = (port: number) => serverArguments(clusterDir, { port, maxConnections, hasSocket, settings });
  const server: ServerOnFolder = { clusterDir, binaries, account, argumentsFor, log };

  const { found, formerPort } = await inspectFolder(dataDir, database);
  const needsWork = !found.isRoleReady || !found.hasDatabase;
  const orphan = found.isNew ? null : await adoptOrStopOrphan(server, options.port, needsWork);
  const password =
    orphan !== null && found.password !== null
      ? found.password
      : await prepareCluster(dataDir, server, found, onProgress);
  await protectPassword(dataDir);

  const { port, ...first } = orphan ?? (await launchOnSomePort(server, options.port, formerPort));
  const supervised = supervisePostmaster({
    first,
    launch: (signal) => launchWithRetries(server, port, signal),
    stopServer: ({ identity }) => stopPostmaster(identity, binaries),
    log,
    onCrash,
  });
  log.info({ pid: supervised.pid, port, adopted: orphan !== null }, "PostgreSQL is running");
  try {
    const databases = [...new Set([...found.knownDatabases, database])];
    await writeState(dataDir, { port, databases, passwordMark: markOfPassword(password) });
  } catch (error) {
    log.warn({ err: error, dataDir }, "Failed to store the PostgreSQL port; the next start may use a different port");
  }

  let stopped: Promise<void> | null = null;
  const stop = async () => {
    await supervised.stop();
    await releaseOwnLock();
    log.info({ port }, "PostgreSQL has stopped");
  };
  return {
    url: connectionUrl(dataDir, password, port, database),
    maintenanceUrl: connectionUrl(dataDir, password, port, "postgres"),
    port,
    adopted: orphan !== null,
    get pid() {
      return supervised.pid;
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** The name goes into a command of single-user mode, which has no parameters. */
function checkDatabaseName(database: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/.test(database)) return;
  throw new EmbeddedPostgresError(
    "database_name_invalid",
    `"${database}" is not a valid database name: use up to 63 letters, digits, "_" and "-", starting with a letter.`,
  );
}

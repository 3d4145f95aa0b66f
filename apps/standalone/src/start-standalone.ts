import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { mkdir, stat } from "node:fs/promises";
import { createLog } from "@svc/log";
import {
  ensureLocalKey,
  initialize,
  localKeyFile,
  makeFirstLink,
  revokeLocalKeys,
  ensureLocalSecretKey,
  localSecretKeyFile,
} from "@svc/operations";
import type { InitializeResult } from "@svc/operations";
import type { Service } from "@svc/contracts";
import {
  closeResources,
  removeSavedPorts,
  loadConfig,
  migrateAll,
  openResources,
  readEnvironment,
  savePorts,
  runServices,
  UNSWITCHED_APPS,
  checkPorts,
  readSavedPorts,
} from "@svc/runtime";
import type { Config, Resources, Running, EarlyConfig, ListeningApp } from "@svc/runtime";
import { isDemoShown } from "@svc/widget";
import { acquireDataFolder, checkLoopback, hasCluster, startEmbeddedPostgres } from "@svc/embedded";
import type { Log } from "@svc/log";
import { APPS } from "./apps.ts";

/** The embedded database server, as environment variables for the configuration. */
export interface Infrastructure {
  variables: { DATABASE_URL?: string; SVC_SECRET_KEY_FILE?: string };
  stop(): Promise<void>;
}

/** The apps with a port that the first start enables. */
const FIRST_APPS: readonly ListeningApp[] = ["api", "tool-server", "console", "widget"];

/** Permission bits with which other users can write to a folder. */
const OTHERS_WRITE = 0o022;

/** Returns a warning if other users of this machine could replace files of the data folder, otherwise null. */
async function findOpenFolder(dataDir: string): Promise<string | null> {
  if (process.platform === "win32") return null;
  const mode = (await stat(dataDir)).mode & 0o777;
  if ((mode & OTHERS_WRITE) === 0) return null;
  const folder = resolve(dataDir);
  return `Warning: other users of this machine can write to the data folder ${folder} (mode ${mode.toString(8)}). Restrict it: chmod 700 '${folder}'`;
}

/**
 * Starts a local PostgreSQL if the configuration names none. One process at a time uses the data folder; `stop`
 * releases its lock. The product's ports are checked before anything is created. Throws DataFolderInUseError,
 * PortTakenError, CannotListenError, SecretKeyMissingError and EmbeddedPostgresError.
 */
async function startInfrastructure(
  config: EarlyConfig,
  log: Log,
  onProgress: (text: string) => void,
): Promise<Infrastructure> {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const openFolder = await findOpenFolder(config.dataDir);
  if (openFolder !== null) onProgress(openFolder);
  if (config.databaseUrl !== undefined) {
    // The settings of an external database may be changed by others, so its ports are not remembered.
    await checkPorts(UNSWITCHED_APPS, config);
    return { variables: {}, stop: () => Promise.resolve() };
  }
  const lock = await acquireDataFolder(config.dataDir);
  try {
    await checkLoopback();
    const isFirst = !(await hasCluster(config.dataDir));
    await checkPorts(isFirst ? FIRST_APPS : await readSavedPorts(config.dataDir), config);
    if (config.secretKey === undefined) await ensureLocalSecretKey(config.dataDir, { hasData: !isFirst });
    const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, lock, log, onProgress });
    return {
      variables: {
        DATABASE_URL: postgres.url,
        ...(config.secretKey === undefined ? { SVC_SECRET_KEY_FILE: localSecretKeyFile(config.dataDir) } : {}),
      },
      async stop() {
        await postgres.stop();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The running standalone product. */
export interface Standalone extends Running {
  config: Config;
  initialized: InitializeResult;
  /** True if the widget serves its demo page. */
  hasDemo: boolean;
  /** Shell expression that reads a key from a file or variable, so that the command does not show it. */
  keyForShell: string;
  /** URL where the first administrator of the console chooses a password; null if there is an administrator. */
  firstAdministratorUrl: string | null;
  /** Call it once the first administrator's key has been shown. */
  markAdminKeyShown(): Promise<void>;
}

/** The product's own documentation, which fills the first knowledge base. */
export const GUIDE_DIR = fileURLToPath(new URL("../../../docs/guide", import.meta.url));

/** Knowledge of the demo shop's agent. */
const DEMO_SHOP_DIR = fileURLToPath(new URL("../../widget/demo/shop", import.meta.url));

async function prepareKeys({ store }: Resources, config: Config): Promise<string> {
  if (config.adminKey !== undefined) {
    await revokeLocalKeys(store);
    return "$SVC_ADMIN_KEY";
  }
  await ensureLocalKey(store, config.dataDir);
  return `$(cat '${localKeyFile(resolve(config.dataDir)).replaceAll("'", String.raw`'\''`)}')`;
}

/** Records the open ports at shutdown: a process that is killed leaves no outdated list. */
function portsService({ store, config }: Resources): Service {
  async function stop(): Promise<void> {
    const { enabled } = await store.channelsConfig.read();
    const switched = (["widget", "tool-server"] as const).filter((app) => enabled.includes(app));
    await savePorts(config.dataDir, ["api", "console", ...switched]);
  }
  return {
    name: "ports",
    async start() {
      await removeSavedPorts(config.dataDir);
      return { stop };
    },
  };
}

/**
 * Runs the whole product in this process: an embedded PostgreSQL unless DATABASE_URL is set, migrations, the first
 * project, agent, knowledge base and key, then every service. Shuts down gracefully on SIGINT and SIGTERM.
 */
export async function startStandalone(env: Environment, onProgress: (text: string) => void): Promise<Standalone> {
  const early = readEnvironment(env);
  const log = createLog({ level: early.logLevel, name: "standalone" });
  const apps = await Promise.all(Object.values(APPS).map((load) => load()));
  const infrastructure = await startInfrastructure(early, log, onProgress);
  try {
    const config = loadConfig({ ...env, ...infrastructure.variables });
    await migrateAll(config.directUrl, log);
    const resources = await openResources(config, { app: "standalone", log });
    let initialized: InitializeResult;
    let keyForShell: string;
    try {
      initialized = await initialize(resources, {
        configuredAdminKey: config.adminKey,
        guideDir: GUIDE_DIR,
        // Not before everything has started: otherwise a key could be lost before it was shown.
        showsKey: false,
        // Without an external database, the product is being tried out on this machine.
        enablesWidget: early.databaseUrl === undefined,
        demoDir: early.databaseUrl === undefined && isDemoShown(config) ? DEMO_SHOP_DIR : undefined,
      });
      keyForShell = await prepareKeys(resources, config);
    } catch (error) {
      await closeResources(resources);
      throw error;
    }
    const services = [...(early.databaseUrl === undefined ? [portsService] : []), ...apps].map((make) =>
      make(resources),
    );
    const running = await runServices(services, resources, { afterStop: () => infrastructure.stop() });
    const consoleUrl = running.urls["Console"];
    // The link gives access: it is only created for the person who starts the product, and is invalid after the next
    // start.
    const link = consoleUrl === undefined ? null : await makeFirstLink(resources);
    const firstAdministratorUrl = link === null ? null : `${consoleUrl}/link#${link.token}`;
    const markAdminKeyShown = () => resources.store.installation.markAdminKeyShown();
    const hasDemo = running.urls["Widget"] !== undefined && isDemoShown(config);
    return { ...running, config, initialized, hasDemo, keyForShell, firstAdministratorUrl, markAdminKeyShown };
  } catch (error) {
    await infrastructure.stop();
    throw error;
  }
}

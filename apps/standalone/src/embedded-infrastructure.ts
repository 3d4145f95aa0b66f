import { mkdir, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { acquireDataFolder, checkLoopback, hasCluster, startEmbeddedPostgres } from "@svc/embedded";
import type { Log } from "@svc/log";
import { ensureLocalSecretKey, localSecretKeyFile } from "@svc/operations";
import { UNSWITCHED_APPS, checkPorts, readSavedPorts } from "@svc/runtime";
import type { EarlyConfig, ListeningApp } from "@svc/runtime";

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
export async function startInfrastructure(
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

import { mkdir, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { acquireDataFolder, checkLoopback, hasCluster, startEmbeddedPostgres } from "@svc/embedded";
import type { Log } from "@svc/log";
import { ensureLocalSecretKey, localSecretKeyFile } from "@svc/operations";
import { checkPorts, recallPorts } from "@svc/runtime";
import type { EarlyConfig, ListeningApp } from "@svc/runtime";

/** What stands in for a database server, as environment variables for the configuration. */
export interface Infrastructure {
  variables: { DATABASE_URL?: string; SVC_SECRET_KEY_FILE?: string };
  stop(): Promise<void>;
}

/** The apps whose ports are checked if the data folder does not know them. The first start enables the widget. */
const LISTENING: readonly ListeningApp[] = ["api", "tool-server", "console"];

/** Rights of a folder to be written by others than its owner. */
const OTHERS_WRITE = 0o022;

/** A warning where other users of this machine could replace files of the data folder; null where they cannot. */
async function findOpenFolder(dataDir: string): Promise<string | null> {
  if (process.platform === "win32") return null;
  const mode = (await stat(dataDir)).mode & 0o777;
  if ((mode & OTHERS_WRITE) === 0) return null;
  const folder = resolve(dataDir);
  return `Warning: other users of this machine can write to the data folder ${folder} (mode ${mode.toString(8)}). Restrict it: chmod 700 '${folder}'`;
}

/**
 * Starts a local PostgreSQL when the configuration names none. The data folder belongs to one process at a time; its
 * lock is released by `stop`. The ports of the product are checked before anything is created. Throws
 * DataFolderInUseError, PortTakenError, CannotListenError and EmbeddedPostgresError.
 */
export async function startInfrastructure(
  config: EarlyConfig,
  log: Log,
  onProgress: (text: string) => void,
): Promise<Infrastructure> {
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const openFolder = await findOpenFolder(config.dataDir);
  if (openFolder !== null) onProgress(openFolder);
  const remembered = await recallPorts(config.dataDir);
  if (config.databaseUrl !== undefined) {
    await checkPorts(remembered ?? LISTENING, config);
    return { variables: {}, stop: () => Promise.resolve() };
  }
  const lock = await acquireDataFolder(config.dataDir);
  try {
    await checkLoopback();
    const isFirst = !(await hasCluster(config.dataDir));
    await checkPorts(isFirst ? [...LISTENING, "widget"] : (remembered ?? LISTENING), config);
    if (config.secretKey === undefined) await ensureLocalSecretKey(config.dataDir);
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

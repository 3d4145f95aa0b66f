import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { acquireDataFolder, startEmbeddedPostgres } from "@svc/embedded";
import type { Log } from "@svc/log";
import type { EarlyConfig } from "@svc/runtime";

/** What stands in for a database server, as environment variables for the configuration. */
export interface Infrastructure {
  variables: { DATABASE_URL?: string; SVC_SECRET_KEY?: string };
  stop(): Promise<void>;
}

const SECRET_KEY_FILE = "secret-key";

/** The secret key of a data folder, made on the first start; only its owner can read it. */
async function readOrMakeSecretKey(dataDir: string): Promise<string> {
  const file = join(dataDir, SECRET_KEY_FILE);
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  const key = randomBytes(48).toString("base64url");
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
  return key;
}

/**
 * Starts a local PostgreSQL when the configuration names none. The data folder belongs to one process at a time; its
 * lock is released by `stop`.
 */
export async function startInfrastructure(
  config: EarlyConfig,
  log: Log,
  onProgress: (text: string) => void,
): Promise<Infrastructure> {
  await mkdir(config.dataDir, { recursive: true });
  if (config.databaseUrl !== undefined) return { variables: {}, stop: () => Promise.resolve() };
  const lock = await acquireDataFolder(config.dataDir);
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, lock, log, onProgress });
    return {
      variables: {
        DATABASE_URL: postgres.url,
        ...(config.secretKey === undefined ? { SVC_SECRET_KEY: await readOrMakeSecretKey(config.dataDir) } : {}),
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

import { mkdir } from "node:fs/promises";
import { acquireDataFolder, startEmbeddedPostgres } from "@svc/embedded";
import type { Log } from "@svc/log";
import { ensureLocalSecretKey } from "@svc/operations";
import type { EarlyConfig } from "@svc/runtime";

/** What stands in for a database server, as environment variables for the configuration. */
export interface Infrastructure {
  variables: { DATABASE_URL?: string; SVC_SECRET_KEY?: string };
  stop(): Promise<void>;
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
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  if (config.databaseUrl !== undefined) return { variables: {}, stop: () => Promise.resolve() };
  const lock = await acquireDataFolder(config.dataDir);
  try {
    const secretKey = config.secretKey ?? (await ensureLocalSecretKey(config.dataDir));
    const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, lock, log, onProgress });
    return {
      variables: {
        DATABASE_URL: postgres.url,
        ...(config.secretKey === undefined ? { SVC_SECRET_KEY: secretKey } : {}),
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

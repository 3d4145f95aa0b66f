import type { Log } from "@svc/log";
import { migrateQueues } from "@svc/queue";
import { migrateStore } from "@svc/store";

/** Brings our own schema and that of the queues up to this version. Safe to repeat and to run concurrently. */
export async function migrateAll(databaseUrl: string, log: Log): Promise<void> {
  await migrateStore(databaseUrl, log);
  await migrateQueues(databaseUrl, log);
}

import { testLog } from "./test-log.ts";

/** Migrates a database for the product: our own tables, and those of the queues. */
export async function migrateTestDatabase(url: string): Promise<void> {
  // Most test files only copy a migrated database, and need not load these.
  const [{ migrateStore }, { migrateQueues }] = await Promise.all([import("@svc/store"), import("@svc/queue")]);
  await migrateStore(url, testLog());
  await migrateQueues(url, testLog());
}

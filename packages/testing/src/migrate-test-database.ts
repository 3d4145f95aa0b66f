import { migrateQueues } from "@svc/queue";
import { migrateStore } from "@svc/store";
import { testLog } from "./test-log.ts";

/** Brings a database to what the product expects: our own tables, and those of the queues. */
export async function migrateTestDatabase(url: string): Promise<void> {
  await migrateStore(url, testLog());
  await migrateQueues(url, testLog());
}

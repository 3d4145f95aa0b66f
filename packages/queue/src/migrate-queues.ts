import type { Log } from "@svc/log";
import { runMigrations } from "bullmq";
import pg from "pg";
import { BULLMQ_SCHEMA } from "./postgres-backend.ts";

/** Makes or updates BullMQ's own tables in the schema `bullmq`. Safe to repeat and to run concurrently. */
export async function migrateQueues(databaseUrl: string, log: Log): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const version = await runMigrations(client, BULLMQ_SCHEMA);
    log.debug({ version }, "the queues' schema is up to date");
  } finally {
    await client.end();
  }
}

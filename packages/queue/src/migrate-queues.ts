import type { Log } from "@svc/log";
import { runMigrations } from "bullmq";
import pg from "pg";
import { BULLMQ_SCHEMA, COUNTERS_TABLE } from "./postgres-backend.ts";

/**
 * The table of the shared counters, in the form that rate-limiter-flexible expects. It is UNLOGGED: counts may be lost
 * in a crash. The statements are one transaction, under a lock that admits one process at a time, since concurrent
 * CREATE TABLE IF NOT EXISTS can fail in Postgres. Half of each page is left free for new row versions, since rows
 * change with each request.
 */
const MAKE_COUNTERS_TABLE = `
  SELECT pg_advisory_xact_lock(hashtext('${BULLMQ_SCHEMA}.${COUNTERS_TABLE}'));
  CREATE UNLOGGED TABLE IF NOT EXISTS ${BULLMQ_SCHEMA}.${COUNTERS_TABLE} (
    key text PRIMARY KEY,
    points integer NOT NULL,
    expire bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE INDEX IF NOT EXISTS ${COUNTERS_TABLE}_expire ON ${BULLMQ_SCHEMA}.${COUNTERS_TABLE} (expire)`;

/**
 * Creates or updates BullMQ's tables and that of the counters in the schema `bullmq`. Safe to repeat and to run
 * concurrently.
 */
export async function migrateQueues(databaseUrl: string, log: Log): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const version = await runMigrations(client, BULLMQ_SCHEMA);
    await client.query(MAKE_COUNTERS_TABLE);
    log.debug({ version }, "queue schema is up to date");
  } finally {
    await client.end();
  }
}

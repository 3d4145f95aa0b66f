import { closeResources, openResources } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import { readSchemaState } from "@svc/store";
import type { Cli } from "./cli.ts";
import { withDatabase } from "./with-database.ts";
import type { Database, DatabaseOptions } from "./with-database.ts";

/** Opens store and queues on a database, and closes them after the work. Throws StartError for a schema or key that do not fit. */
export async function onDatabase<Result>(
  { config, log }: Database,
  work: (resources: Resources) => Promise<Result>,
): Promise<Result> {
  // A service waits for its store; a command says at once that it cannot be reached.
  await readSchemaState(config.databaseUrl);
  const resources = await openResources(config, { app: "cli", log });
  try {
    return await work(resources);
  } finally {
    await closeResources(resources);
  }
}

/** What `withDatabase` and `onDatabase` do, in one step. `prepare` runs before the store is opened. */
export function withResources<Result>(
  cli: Cli,
  options: DatabaseOptions & { prepare?: (database: Database) => Promise<void> },
  work: (resources: Resources, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return withDatabase(cli, options, async (database) => {
    await options.prepare?.(database);
    return onDatabase(database, (resources) => work(resources, database.signal));
  });
}

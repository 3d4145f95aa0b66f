import type { Command } from "commander";
import type { SchemaState } from "@svc/store";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";

const OUTCOMES: Record<SchemaState, string> = {
  older: "The database schema was migrated to this version.",
  current: "The database schema is already up to date.",
  newer: "The database schema is newer than this version; nothing was changed. Finish the upgrade.",
};

/** `svc migrate`: brings the schema of the store and of the queues up to this version. */
export function addMigrate(program: Command, cli: Cli): void {
  program
    .command("migrate")
    .description("migrate the database schema to this version")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Migrates forward only. Safe to repeat and to run from several machines at once. Run it before the apps of a new version
start; "${cli.startWith}" does it automatically.
Examples:
  DATABASE_URL=postgres://svc@db/svc SVC_SECRET_KEY_FILE=/run/secrets/svc ${cli.self} migrate
  ${cli.self} migrate --json`,
    )
    .action(async () => {
      const [{ withDatabase }, { migrateAll }, { readSchemaState }] = await Promise.all([
        import("../with-database.ts"),
        import("@svc/runtime"),
        import("@svc/store"),
      ]);
      await withDatabase(cli, { mayCreate: true }, async ({ config, log, origin }) => {
        const before = await readSchemaState(config.databaseUrl);
        await migrateAll(config.databaseUrl, log);
        const after = await readSchemaState(config.databaseUrl);
        cli.terminal.show({ ok: true, database: origin, before, after }, () => OUTCOMES[before]);
      });
    });
}

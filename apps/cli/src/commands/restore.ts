import type { Command } from "commander";
import type { RestoreOptions } from "../backup/run-restore.ts";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";

/** `svc restore <file>`: puts a backup into a database. */
export function addRestore(program: Command, cli: Cli): void {
  program
    .command("restore")
    .description("put a backup into a database, whole or not at all")
    .argument("<file>", "the backup; - reads standard input")
    .option("--replace", "remove what the database holds")
    .option("--yes", "do not ask")
    .option("--force", "do it although processes of the product seem to be at work on the database")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Stop the product first. The secret key must be the one that the backup was made with. A backup of an older version is
restored as it was and then migrated. All of it happens in one transaction: until it is done, and when it fails, the
database is as it was.

Examples:
  SVC_DATA_DIR=/var/lib/svc ${cli.self} restore svc.backup.gz
  DATABASE_URL=postgres://svc@db/svc SVC_SECRET_KEY_FILE=/run/secrets/svc ${cli.self} restore svc.backup.gz --replace
  age -d svc.backup.gz.age | ${cli.self} restore - --replace --yes`,
    )
    .action(async (file: string, options: RestoreOptions) => {
      const { runRestore } = await import("../backup/run-restore.ts");
      await runRestore(cli, file, options);
    });
}

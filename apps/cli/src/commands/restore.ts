import type { Command } from "commander";
import type { RestoreOptions } from "../backup/run-restore.ts";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";

/** `svc restore <file>`: puts a backup into a database. */
export function addRestore(program: Command, cli: Cli): void {
  program
    .command("restore")
    .description("restore a backup into a database in one transaction")
    .argument("<file>", "the backup; - for standard input")
    .option("--replace", "replace the existing content of the database")
    .option("--yes", "skip the confirmation")
    .option("--force", "restore even if processes seem to be using the database")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Stop the service first. The secret key must be the one the backup was made with. A backup of an older version is
restored and then migrated. Everything happens in one transaction: until it is complete, and if it fails, the database
stays unchanged.
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

import type { Command } from "commander";
import type { UpgradeOptions } from "../backup/run-upgrade.ts";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";

/** `svc upgrade`: check, backup, migrate, verify. */
export function addUpgrade(program: Command, cli: Cli): void {
  program
    .command("upgrade")
    .description("upgrade the database to this version: check, back up, migrate, verify")
    .option("--backup <file>", "backup file (default: a name with the time, in this folder); - for standard output")
    .option("--no-backup", "skip the backup")
    .option("--force", "overwrite an existing file")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Run it with the new version, before its processes start. Processes of the previous version can keep running. Safe to
repeat: if the schema is already at this version, nothing is done. A failed migration leaves everything unchanged.
Examples:
  ${cli.self} upgrade
  DATABASE_URL=postgres://svc@db/svc SVC_SECRET_KEY_FILE=/run/secrets/svc ${cli.self} upgrade --backup before.backup.gz`,
    )
    .action(async (options: UpgradeOptions) => {
      const { runUpgrade } = await import("../backup/run-upgrade.ts");
      await runUpgrade(cli, options);
    });
}

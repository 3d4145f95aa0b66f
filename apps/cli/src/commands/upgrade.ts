import type { Command } from "commander";
import type { UpgradeOptions } from "../backup/run-upgrade.ts";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";

/** `svc upgrade`: check, backup, migrate, verify. */
export function addUpgrade(program: Command, cli: Cli): void {
  program
    .command("upgrade")
    .description("bring the database to this version: check, backup, migrate, verify")
    .option(
      "--backup <file>",
      "where the backup goes (default: a name with the time, in this folder); - is standard output",
    )
    .option("--no-backup", "make none")
    .option("--force", "replace a file of this name")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Run it with the new version, before its processes start. Those of the version before may run on meanwhile. Safe to
repeat: where the schema is of this version already, nothing is done. A migration that fails leaves everything as it was.

Examples:
  ${cli.self} upgrade
  DATABASE_URL=postgres://svc@db/svc SVC_SECRET_KEY_FILE=/run/secrets/svc ${cli.self} upgrade --backup before.backup.gz`,
    )
    .action(async (options: UpgradeOptions) => {
      const { runUpgrade } = await import("../backup/run-upgrade.ts");
      await runUpgrade(cli, options);
    });
}

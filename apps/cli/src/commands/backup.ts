import type { Command } from "commander";
import type { BackupOptions } from "../backup/run-backup.ts";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";

function addVerify(backup: Command, cli: Cli): void {
  backup
    .command("verify")
    .description("check that a backup is whole and as it was written; needs no database")
    .argument("<file>", "the backup; - reads standard input")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Reads the whole file: the rows of each table are counted and hashed, and so is everything together. The exit code is 1
when the file is cut off, damaged, or no backup. That it was written by somebody with the secret key is checked by
restore.

Examples:
  ${cli.self} backup verify svc.backup.gz
  ${cli.self} backup verify svc.backup.gz --json`,
    )
    .action(async (file: string) => {
      const { runVerify } = await import("../backup/run-verify.ts");
      await runVerify(cli, file);
    });
}

/** `svc backup [file]` and `svc backup verify`. */
export function addBackup(program: Command, cli: Cli): void {
  const backup = program
    .command("backup")
    .description("write everything that the database holds to one file, while the product runs or not")
    .usage("[file] [options] | verify <file>")
    .argument("[file]", "where it is written (default: a name with the time, in this folder); - is standard output")
    .option("--force", "replace a file of this name")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The file is packed with gzip, holds one moment of the database, and can be read by its owner alone. It appears when it
is whole. The secret key (SVC_SECRET_KEY, or the file secret-key of the data folder) is not in it, and nothing can be
restored without it: keep the key at another place. Queues are not in it; they are rebuilt from what is.

Examples:
  ${cli.self} backup
  ${cli.self} backup /backups/svc.backup.gz --force
  ${cli.silentSelf} backup - | age -r age1… > svc.backup.gz.age
  ${cli.self} backup verify /backups/svc.backup.gz`,
    )
    .action(async (file: string | undefined, options: BackupOptions) => {
      const { runBackup } = await import("../backup/run-backup.ts");
      await runBackup(cli, file, options);
    });
  addVerify(backup, cli);
}

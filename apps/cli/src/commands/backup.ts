import type { Command } from "commander";
import type { BackupOptions } from "../backup/run-backup.ts";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";

function addVerify(backup: Command, cli: Cli): void {
  backup
    .command("verify")
    .description("verify that a backup is complete and unchanged (needs no database)")
    .argument("<file>", "the backup; - for standard input")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Reads the whole file and checks the number and the hash of each table's rows, and the hash of the whole file. The exit
code is 1 if the file is truncated, damaged, or not a backup. Only restore checks whether it was
made with your secret key.
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
    .description("back up the database to a file, whether or not the service is running")
    .usage("[file] [options] | verify <file>")
    .argument("[file]", "output file (default: a name with the time, in this folder); - for standard output")
    .option("--force", "overwrite an existing file")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The file is compressed with gzip, contains a consistent snapshot of the database, and is readable only by its owner. It
appears only when it is complete. The secret key (SVC_SECRET_KEY, or the file secret-key in the data folder) is not included,
and a backup cannot be restored without it: store the key in a different place. Queues are not included; they are
rebuilt from the database.
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

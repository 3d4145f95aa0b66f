import { defineCommand } from "../define-command.ts";
import { flag, option, yesOption } from "../options.ts";
import type { TypedOption } from "../options.ts";

const verify = defineCommand({
  description: "verify that a backup is complete and unchanged (needs no database)",
  args: { "<file>": "the backup; - for standard input" },
  about: `Reads the whole file and checks the number and the hash of each table's rows, and the hash of the whole file. The exit
code is 1 if the file is truncated, damaged, or not a backup. Only restore checks whether it was
made with your secret key.`,
  examples: ["backup verify svc.backup.gz", "backup verify svc.backup.gz --json"],
  async run(cli, { file }) {
    const { verifyBackup } = await import("../backup/run-backup.ts");
    await verifyBackup(cli, file);
  },
});

/** `svc backup`: the content of the database in one file, whether or not the service is running. */
export const backup = defineCommand({
  usage: "[file] [options] | verify <file>",
  args: { "[file]": "output file (default: a name with the time, in this folder); - for standard output" },
  options: { force: flag("--force", "overwrite an existing file") },
  about: `The file is compressed with gzip, contains a consistent snapshot of the database, and is readable only by its owner. It
appears only when it is complete. The secret key (SVC_SECRET_KEY, or the file secret-key in the data folder) is not included,
and a backup cannot be restored without it: store the key in a different place. Queues are not included; they are
rebuilt from the database.`,
  examples: [
    "backup",
    "backup /backups/svc.backup.gz --force",
    "{silent} backup - | age -r age1… > svc.backup.gz.age",
    "backup verify /backups/svc.backup.gz",
  ],
  async run(cli, input) {
    const { backUp } = await import("../backup/run-backup.ts");
    await backUp(cli, input);
  },
  commands: { verify },
});

const RESTORE_OPTIONS = {
  replace: flag("--replace", "replace the existing content of the database"),
  yes: yesOption,
  force: flag("--force", "restore even if processes seem to be using the database"),
};

/** `svc restore`: replaces the content of a database by a backup, in one transaction. */
export const restore = defineCommand({
  args: { "<file>": "the backup; - for standard input" },
  options: RESTORE_OPTIONS,
  about: `Stop the service first. The secret key must be the one the backup was made with. A backup of an older version is
restored and then migrated. Everything happens in one transaction: until it is complete, and if it fails, the database
stays unchanged.`,
  examples: [
    "SVC_DATA_DIR=/var/lib/svc {svc} restore svc.backup.gz",
    "DATABASE_URL=postgres://svc@db/svc SVC_SECRET_KEY_FILE=/run/secrets/svc {svc} restore svc.backup.gz --replace",
    "age -d svc.backup.gz.age | {svc} restore - --replace --yes",
  ],
  async run(cli, input) {
    const { restoreBackup } = await import("../backup/run-backup.ts");
    await restoreBackup(cli, input);
  },
});

/** A file, or false with `--no-backup`. */
const backupFile: TypedOption<string | boolean | undefined> = option(
  "--backup <file>",
  "backup file (default: a name with the time, in this folder); - for standard output",
);

/** `svc upgrade`: upgrades the database to this version: check, backup, migration, check. */
export const upgrade = defineCommand({
  options: {
    backup: backupFile,
    noBackup: flag("--no-backup", "skip the backup"),
    force: flag("--force", "overwrite an existing file"),
  },
  about: `Run it with the new version, before its processes start. Processes of the previous version can keep running. Safe to
repeat: if the schema is already at this version, nothing is done. A failed migration leaves everything unchanged.`,
  examples: [
    "upgrade",
    "DATABASE_URL=postgres://svc@db/svc SVC_SECRET_KEY_FILE=/run/secrets/svc {svc} upgrade --backup before.backup.gz",
  ],
  async run(cli, input) {
    const { upgradeDatabase } = await import("../backup/run-backup.ts");
    await upgradeDatabase(cli, input);
  },
});

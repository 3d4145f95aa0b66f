import { readSchemaState } from "@svc/store";
import type { Cli } from "../cli.ts";
import { safeLine } from "../safe-text.ts";
import { withDatabase } from "../with-database.ts";
import { checkTarget, makeBackup, usualName } from "./make-backup.ts";
import { noteInAudit } from "./note-in-audit.ts";
import { STANDARD_STREAM } from "./open-backup.ts";
import { describeRows } from "./watch-tables.ts";

/** What `backup` is told. */
export interface BackupOptions {
  force?: boolean;
}

/** `svc backup`: one file with everything that the database holds, made while the product runs or while it does not. */
export async function runBackup(cli: Cli, file: string | undefined, options: BackupOptions): Promise<void> {
  const target = { file: file ?? usualName(new Date()), mayReplace: options.force === true };
  checkTarget(cli, target);
  const made = await withDatabase(cli, { endsItself: true }, async (database) => {
    const backup = await makeBackup(cli, database, target);
    // A trail of another version may look differently.
    if ((await readSchemaState(database.config.databaseUrl)) === "current")
      await noteInAudit(database, "service.backup");
    return backup;
  });
  const { counts: _, ...document } = made;
  const text = [
    `${describeRows(made)}, as of ${made.takenAt}, ${file === STANDARD_STREAM ? "written" : `written to ${safeLine(made.file, 200)}`}`,
    "The secret key is not included, and the backup cannot be restored without it: store SVC_SECRET_KEY, or the file secret-key",
    " of the data folder, in a different place. The file contains customer messages: protect it like the database.",
  ].join("\n");
  if (target.file === STANDARD_STREAM) cli.terminal.note(text);
  else cli.terminal.show({ ok: true, ...document }, () => text);
}

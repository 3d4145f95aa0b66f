import { readLocalSecretKey } from "@svc/operations";
import { forgetPorts, migrateAll, readEnvironment } from "@svc/runtime";
import { createSealer, putStoreCopy } from "@svc/store";
import type { PutResult } from "@svc/store";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { confirm } from "../confirm.ts";
import { EXIT } from "../exit-codes.ts";
import { safeLine } from "../safe-text.ts";
import { withDatabase } from "../with-database.ts";
import type { Database } from "../with-database.ts";
import { BackupFileError } from "./backup-file-error.ts";
import { sealedText } from "./backup-format.ts";
import { explainCopyFault } from "./explain-copy-fault.ts";
import { noteInAudit } from "./note-in-audit.ts";
import { STANDARD_STREAM, nameOf, withBackup } from "./open-backup.ts";
import type { BackupReading } from "./read-backup.ts";
import { describeRows, watchTables } from "./watch-tables.ts";

/** What `restore` is told. */
export interface RestoreOptions {
  replace?: boolean;
  yes?: boolean;
  force?: boolean;
}

/** The tables of a backup; at their end, before anything counts, it is proven that the file is of who has the key. */
async function* provenTables(backup: BackupReading, secretKey: string): ReturnType<BackupReading["tables"]> {
  yield* backup.tables();
  const { seal, sha256 } = backup.total();
  if (createSealer(secretKey).open({ sealed: seal }) === sealedText(sha256)) return;
  throw new BackupFileError(
    "damaged",
    "The file was not sealed with this SVC_SECRET_KEY: it was modified without the key, or it needs a different key.",
  );
}

async function restoreInto(cli: Cli, database: Database, backup: BackupReading, options: RestoreOptions) {
  const { config, log, signal } = database;
  await forgetPorts(config.dataDir);
  const result = await putStoreCopy(
    {
      url: config.databaseUrl,
      secretKey: config.secretKey,
      log,
      signal,
      head: backup.head,
      mayReplace: options.replace === true,
      mayInterrupt: options.force === true,
      onTable: watchTables(cli),
    },
    provenTables(backup, config.secretKey),
  );
  // The queues' own tables; what is due is put into the queues by the sweepers.
  await migrateAll(config.databaseUrl, log);
  await noteInAudit(database, "service.restore");
  return result;
}

/** A new data folder would get a new key, with which nothing in a backup can be opened. */
async function requireKey(cli: Cli): Promise<void> {
  const { databaseUrl, secretKey, dataDir } = readEnvironment(cli.env);
  if (databaseUrl !== undefined || secretKey !== undefined) return;
  if ((await readLocalSecretKey(dataDir)) !== null) return;
  throw new CliError(
    "wrong_key",
    EXIT.configuration,
    `There is no secret key in ${safeLine(dataDir, 200)}. Copy the file secret-key from the data folder that the backup comes from ` +
      "into it,\nor set SVC_SECRET_KEY to the key of that installation.",
  );
}

function describe(file: string, backup: BackupReading, result: PutResult): string {
  const migrated =
    result.migrated.length === 0
      ? []
      : [`The backup was made with an older version; ${result.migrated.length} migrations were applied.`];
  return [
    `Restored ${nameOf(file)}, as of ${backup.head.takenAt}: ${describeRows(result)}`,
    ...migrated,
    "Everything is as it was at that time. Messages delivered since then may be delivered again. Keys revoked and personal data",
    " erased since then are restored: revoke and erase them again. Operators must sign in again.",
  ].join("\n");
}

/** `svc restore`: puts a backup into a database, whole or not at all. */
export async function runRestore(cli: Cli, file: string, options: RestoreOptions): Promise<void> {
  if (options.replace === true && options.yes !== true && file === STANDARD_STREAM) {
    throw new CliError(
      "usage",
      EXIT.usage,
      "Cannot ask for confirmation, because the backup is read from standard input. Add --yes.",
    );
  }
  await requireKey(cli);
  await withBackup(cli, file, async (backup) => {
    if (options.replace === true && options.yes !== true) {
      const question = `This replaces the entire content of the database with the backup as of ${backup.head.takenAt}. This cannot be undone.`;
      if (!(await confirm(cli, question, "--yes"))) {
        throw new CliError("not_confirmed", EXIT.failed, "Nothing was changed.");
      }
    }
    const result = await withDatabase(cli, { mayCreate: true, endsItself: true }, (database) =>
      restoreInto(cli, database, backup, options),
    ).catch((error: unknown) => {
      throw explainCopyFault(cli, error);
    });
    const { takenAt, program } = backup.head;
    cli.terminal.show({ ok: true, takenAt, program, ...result }, () => describe(file, backup, result));
  });
}

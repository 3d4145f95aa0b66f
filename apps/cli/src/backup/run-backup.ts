import { readLocalSecretKey } from "@svc/operations";
import { removeSavedPorts, migrateAll, readEnvironment } from "@svc/runtime";
import { countStoreRows, createSealer, putStoreCopy, readSchemaState } from "@svc/store";
import type { PutResult } from "@svc/store";
import { BackupFileError, countLines, sealedText, STANDARD_STREAM, nameOf, withBackup } from "./read-backup.ts";
import {
  checkTarget,
  describeRows,
  explainCopyError,
  makeBackup,
  recordInAudit,
  usualName,
  watchTables,
} from "./make-backup.ts";
import type { BackupTarget, BackupResult } from "./make-backup.ts";
import type { BackupReading } from "./read-backup.ts";
import { CliError, EXIT, failure, usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { checkDatabase } from "../doctor/check-database.ts";
import { confirm } from "../read-input.ts";
import { safeLine } from "../terminal.ts";
import { onDatabase, withDatabase } from "../with-resources.ts";
import type { Database } from "../with-resources.ts";

/** `svc backup verify`: checks that a backup is complete and unchanged. */
export async function verifyBackup(cli: Cli, file: string): Promise<void> {
  const document = await withBackup(cli, file, async (backup) => {
    const counts: Record<string, number> = {};
    for await (const { table, rows } of backup.tables()) {
      let count = 0;
      for await (const piece of rows) count += countLines(piece);
      counts[table.name] = count;
    }
    const { format, program, takenAt, postgres, migrations } = backup.head;
    const { sha256, tables, rows } = backup.total();
    return { file: nameOf(file), format, program, takenAt, postgres, migrations, tables, rows, sha256, counts };
  });
  cli.terminal.show({ ok: true, ...document }, () => {
    const { green } = cli.terminal.paint;
    const schema = document.migrations.at(-1) ?? "";
    return [
      `${green("complete")}: ${describeRows(document)}, as of ${document.takenAt}`,
      `Written by version ${safeLine(document.program, 60)}, schema ${safeLine(schema, 60)}, from PostgreSQL ${safeLine(document.postgres, 60)}`,
    ].join("\n");
  });
}

/** `svc backup`: writes the content of the database to a file. */
export async function backUp(
  cli: Cli,
  { file, force }: { file: string | undefined; force: true | undefined },
): Promise<void> {
  const target = { file: file ?? usualName(new Date()), mayReplace: force === true };
  checkTarget(cli, target);
  const made = await withDatabase(cli, { endsItself: true }, async (database) => {
    const copied = await makeBackup(cli, database, target);
    // The audit log of another version may have another schema.
    if ((await readSchemaState(database.config.directUrl)) === "current") {
      await recordInAudit(database, "service.backup");
    }
    return copied;
  });
  const { counts: _, ...document } = made;
  const where = file === STANDARD_STREAM ? "written" : `written to ${safeLine(made.file, 200)}`;
  const text = [
    `${describeRows(made)}, as of ${made.takenAt}, ${where}`,
    "The secret key is not included, and the backup cannot be restored without it: store SVC_SECRET_KEY, or the file secret-key",
    " of the data folder, in a different place. The file contains customer messages: protect it like the database.",
  ].join("\n");
  if (target.file === STANDARD_STREAM) cli.terminal.note(text);
  else cli.terminal.show({ ok: true, ...document }, () => text);
}

/** Options of `svc restore`. */
interface RestoreInput {
  file: string;
  replace: true | undefined;
  yes: true | undefined;
  force: true | undefined;
}

/** Yields the tables of a backup, then checks that it was sealed with the secret key, before anything is committed. */
async function* provenTables(reading: BackupReading, secretKey: string): ReturnType<BackupReading["tables"]> {
  yield* reading.tables();
  const { seal, sha256 } = reading.total();
  if (createSealer(secretKey).open({ sealed: seal }) === sealedText(sha256)) return;
  throw new BackupFileError(
    "damaged",
    "The file was not sealed with this SVC_SECRET_KEY: it was modified without the key, or it needs a different key.",
  );
}

async function restoreInto(
  cli: Cli,
  database: Database,
  reading: BackupReading,
  { replace, force }: RestoreInput,
): Promise<PutResult> {
  const { config, log, signal } = database;
  await removeSavedPorts(config.dataDir);
  const result = await putStoreCopy(
    {
      url: config.directUrl,
      secretKey: config.secretKey,
      log,
      signal,
      head: reading.head,
      mayReplace: replace === true,
      mayInterrupt: force === true,
      onTable: watchTables(cli),
    },
    provenTables(reading, config.secretKey),
  );
  // Creates the queues' own tables, which are empty: the sweepers announce what is due.
  await migrateAll(config.directUrl, log);
  await recordInAudit(database, "service.restore");
  return result;
}

/** Throws if a new data folder would get a new key, which could not decrypt anything in a backup. */
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

function describeRestore(file: string, reading: BackupReading, result: PutResult): string {
  const migrated =
    result.migrated.length === 0
      ? []
      : [`The backup was made with an older version; ${result.migrated.length} migrations were applied.`];
  return [
    `Restored ${nameOf(file)}, as of ${reading.head.takenAt}: ${describeRows(result)}`,
    ...migrated,
    "Everything is as it was at that time. Messages delivered since then may be delivered again. Keys revoked and personal data",
    " erased since then are restored: revoke and erase them again. Operators must sign in again.",
  ].join("\n");
}

/** `svc restore`: replaces the content of a database by a backup, in one transaction. */
export async function restoreBackup(cli: Cli, input: RestoreInput): Promise<void> {
  const { file } = input;
  const isAsked = input.replace === true && input.yes !== true;
  if (isAsked && file === STANDARD_STREAM) {
    throw usageError("Cannot ask for confirmation, because the backup is read from standard input. Add --yes.");
  }
  await requireKey(cli);
  await withBackup(cli, file, async (reading) => {
    const { takenAt, program } = reading.head;
    const question = `This replaces the entire content of the database with the backup as of ${takenAt}. This cannot be undone.`;
    if (isAsked && !(await confirm(cli, question, "--yes"))) {
      throw failure("not_confirmed", "Nothing was changed.");
    }
    const result = await withDatabase(cli, { mayCreate: true, endsItself: true }, (database) =>
      restoreInto(cli, database, reading, input),
    ).catch((error: unknown) => {
      throw explainCopyError(cli, error);
    });
    cli.terminal.show({ ok: true, takenAt, program, ...result }, () => describeRestore(file, reading, result));
  });
}

/** Tables from which no migration deletes rows. */
const PERMANENT_TABLES = [
  "projects",
  "api_keys",
  "agents",
  "kbs",
  "documents",
  "chats",
  "messages",
  "tickets",
  "replies",
];

/** Throws when the database cannot be brought to this version. */
async function requireUpgradable(cli: Cli, database: Database): Promise<"older" | "current"> {
  const { directUrl } = database.config;
  const { checks } = await checkDatabase(cli, database);
  const problem = checks.find(({ name, status }) => name === "PostgreSQL" && status === "fail");
  if (problem !== undefined) {
    throw failure("old_postgres", `PostgreSQL is too old: ${problem.detail}. ${problem.advice ?? ""}`);
  }
  const state = await readSchemaState(directUrl);
  if (state !== "newer") return state;
  throw failure(
    "newer_database",
    "The schema of this database is newer than this version of the product; nothing was changed. Use the newer version.",
  );
}

/** Returns the tables that have fewer rows than the backup, in words. */
async function findMissingRows({ config, log, signal }: Database, { counts }: BackupResult): Promise<string[]> {
  const position = { url: config.directUrl, log, signal };
  const now = await countStoreRows(position, PERMANENT_TABLES);
  return PERMANENT_TABLES.flatMap((name) => {
    const [before = 0, after = 0] = [counts.get(name), now.get(name)];
    return after < before ? [`${name} had ${before} rows and has ${after}`] : [];
  });
}

async function migrateWithBackup(cli: Cli, database: Database, target: BackupTarget | null) {
  const { config, log } = database;
  const before = await requireUpgradable(cli, database);
  const made = before === "current" || target === null ? null : await makeBackup(cli, database, target);
  if (before === "older") cli.terminal.note("Migrating …");
  try {
    await migrateAll(config.directUrl, log);
  } catch (error) {
    if (made === null) throw error;
    cli.terminal.note(`The migration failed and was rolled back. The backup is in ${safeLine(made.file, 200)}.`);
    throw error;
  }
  // The store is not opened with a key other than its own, nor on a schema that is too old.
  await onDatabase(database, ({ store }) => store.channelsConfig.read());
  const losses = made === null ? [] : await findMissingRows(database, made);
  if (losses.length > 0) {
    throw failure(
      "rows_missing",
      `Rows are missing after the migration: ${losses.join("; ")}.\n` +
        `If they were not deleted on purpose in the meantime, stop the service and restore ${safeLine(made?.file ?? "", 200)} with the previous version.`,
    );
  }
  if (before === "older") await recordInAudit(database, "service.upgrade");
  return { before, made };
}

/** Options of `svc upgrade`. */
interface UpgradeInput {
  /** File of the backup; false for none. */
  backup: string | boolean | undefined;
  force: true | undefined;
}

/**
 * `svc upgrade`: checks whether the database can be brought to this version, makes a backup, migrates, and checks that no
 * rows are missing. Only checks if the schema is already at this version.
 */
export async function upgradeDatabase(cli: Cli, { backup: wanted, force }: UpgradeInput): Promise<void> {
  const file = typeof wanted === "string" ? wanted : usualName(new Date());
  const target = wanted === false ? null : { file, mayReplace: force === true };
  if (target !== null) checkTarget(cli, target);
  const done = await withDatabase(cli, { endsItself: true }, (database) => migrateWithBackup(cli, database, target));
  const made = done.made?.file ?? null;
  const text =
    done.before === "current"
      ? "The database schema is already at this version; no backup was made."
      : [
          "The database schema is now at this version, and no rows are missing.",
          ...(made === null || made === STANDARD_STREAM
            ? []
            : [`The backup from before the upgrade is in ${safeLine(made, 200)}.`]),
          "Start the processes of this version. Those of the previous version can keep running until then.",
        ].join("\n");
  if (file === STANDARD_STREAM && target !== null) cli.terminal.note(text);
  else cli.terminal.show({ ok: true, before: done.before, after: "current", backup: made }, () => text);
}

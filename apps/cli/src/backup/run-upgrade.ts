import { migrateAll } from "@svc/runtime";
import { countStoreRows, readSchemaState } from "@svc/store";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { checkDatabase } from "../doctor/check-database.ts";
import { EXIT } from "../exit-codes.ts";
import { safeLine } from "../safe-text.ts";
import { withDatabase } from "../with-database.ts";
import type { Database } from "../with-database.ts";
import { onDatabase } from "../with-resources.ts";
import { checkTarget, makeBackup, usualName } from "./make-backup.ts";
import type { BackupTarget, MadeBackup } from "./make-backup.ts";
import { noteInAudit } from "./note-in-audit.ts";
import { STANDARD_STREAM } from "./open-backup.ts";

/** What `upgrade` is told. */
export interface UpgradeOptions {
  /** Where the backup goes, or false for none. */
  backup?: string | boolean;
  force?: boolean;
}

/** Tables whose rows no migration takes away. */
const KEPT = ["projects", "api_keys", "agents", "kbs", "documents", "chats", "messages", "tickets", "replies"];

/** Throws when the database cannot be brought to this version. */
async function requireUpgradable(cli: Cli, database: Database): Promise<"older" | "current"> {
  const { databaseUrl } = database.config;
  const { checks } = await checkDatabase(cli, database);
  const fault = checks.find(({ name, status }) => name === "PostgreSQL" && status === "fail");
  if (fault !== undefined) {
    throw new CliError("old_postgres", EXIT.failed, `PostgreSQL is too old: ${fault.detail}. ${fault.advice ?? ""}`);
  }
  const state = await readSchemaState(databaseUrl);
  if (state !== "newer") return state;
  throw new CliError(
    "newer_database",
    EXIT.failed,
    "The schema of this database is newer than this version of the product; nothing was changed. Use the newer version.",
  );
}

/** What has fewer rows than the backup has, in words. */
async function findLosses({ config, log, signal }: Database, { counts }: MadeBackup): Promise<string[]> {
  const place = { url: config.databaseUrl, log, signal };
  const now = await countStoreRows(place, KEPT);
  return KEPT.flatMap((name) => {
    const [before = 0, after = 0] = [counts.get(name), now.get(name)];
    return after < before ? [`${name} had ${before} rows and has ${after}`] : [];
  });
}

async function upgradeDatabase(cli: Cli, database: Database, target: BackupTarget | null) {
  const { config, log } = database;
  const before = await requireUpgradable(cli, database);
  const backup = before === "current" || target === null ? null : await makeBackup(cli, database, target);
  if (before === "older") cli.terminal.note("Migrating …");
  try {
    await migrateAll(config.databaseUrl, log);
  } catch (error) {
    if (backup === null) throw error;
    cli.terminal.note(`The migration failed and was rolled back. The backup is in ${safeLine(backup.file, 200)}.`);
    throw error;
  }
  // The store is not opened with another key than the one that it was set up with, nor on a schema that is too old.
  await onDatabase(database, ({ store }) => store.channelsConfig.read());
  const losses = backup === null ? [] : await findLosses(database, backup);
  if (losses.length > 0) {
    throw new CliError(
      "rows_missing",
      EXIT.failed,
      `Rows are missing after the migration: ${losses.join("; ")}.\n` +
        `If they were not deleted on purpose in the meantime, stop the service and restore ${safeLine(backup?.file ?? "", 200)} with the previous version.`,
    );
  }
  if (before === "older") await noteInAudit(database, "service.upgrade");
  return { before, backup };
}

/**
 * `svc upgrade`: looks whether the database can be brought to this version, makes a backup, migrates, and looks whether
 * everything is there. Does nothing but look where the schema is of this version already.
 */
export async function runUpgrade(cli: Cli, options: UpgradeOptions): Promise<void> {
  const { backup: wanted, force } = options;
  const file = typeof wanted === "string" ? wanted : usualName(new Date());
  const target = wanted === false ? null : { file, mayReplace: force === true };
  if (target !== null) checkTarget(cli, target);
  const done = await withDatabase(cli, { endsItself: true }, (database) => upgradeDatabase(cli, database, target));
  const backup = done.backup?.file ?? null;
  const text =
    done.before === "current"
      ? "The database schema is already at this version; no backup was made."
      : [
          "The database schema is now at this version, and no rows are missing.",
          ...(backup === null || backup === STANDARD_STREAM
            ? []
            : [`The backup from before the upgrade is in ${safeLine(backup, 200)}.`]),
          "Start the processes of this version. Those of the previous version can keep running until then.",
        ].join("\n");
  if (file === STANDARD_STREAM && target !== null) cli.terminal.note(text);
  else cli.terminal.show({ ok: true, before: done.before, after: "current", backup }, () => text);
}

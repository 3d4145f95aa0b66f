import type { Db } from "../db.ts";
import { statements } from "../sql.ts";
import type { Sealer } from "./sealer.ts";
import { CHANNELS, channelsConfigSchema } from "@svc/contracts";
import type { ChannelDescriptor, ChannelId, ChannelsConfig, IntegrationId } from "@svc/contracts";

const CHECK_TEXT = "svc secret key check";

/** True when this sealer has the secret key with which the check of an installation was sealed. */
export function opensSecretKeyCheck(sealer: Sealer, sealed: string): boolean {
  return sealer.open({ sealed }) === CHECK_TEXT;
}

/** Number of the advisory lock that an initialisation holds; nothing else of ours takes it. */
const INITIALIZE_LOCK = 7_305_416;

/**
 * Compares the secret key of this process with the one that sealed this store's secrets; the first process to ask
 * sets it. False: another key, with which nothing sealed could be opened.
 */
export async function checkSecretKey(db: Db, sealer: Sealer): Promise<boolean> {
  await sql.setSecretKeyCheck.run(db, { sealed: sealer.seal(CHECK_TEXT).sealed });
  const row = await sql.readSecretKeyCheck.one<{ secretKeyCheck: string }>(db);
  const sealed = row?.secretKeyCheck;
  return sealed !== undefined && opensSecretKeyCheck(sealer, sealed);
}

/**
 * Runs `work` while no other process initialises this store; waits up to 30 s for one that does. Locks: one
 * advisory lock, which ends with the connection, so that a crash leaves nothing locked.
 */
export function exclusively<Result>(db: Db, work: () => Promise<Result>): Promise<Result> {
  return db.transaction(async (tx) => {
    await sql.lockInitialization.run(tx, { initializeLock: INITIALIZE_LOCK });

    await sql.setLockTimeout.run(tx);
    return work();
  });
}

/** True once the first initialisation has been finished. */
export async function isInitialized(db: Db): Promise<boolean> {
  const row = await sql.isInitialized.one<{ done: boolean }>(db);
  return row?.done ?? false;
}

/** True once somebody was shown the first administrator's key. */
export async function isAdminKeyShown(db: Db): Promise<boolean> {
  const row = await sql.isAdminKeyShown.one<{ done: boolean }>(db);
  return row?.done ?? false;
}

/** Notes that somebody was shown the first administrator's key. */
export async function markAdminKeyShown(db: Db): Promise<void> {
  await sql.markAdminKeyShown.run(db);
}

/** Notes that the first initialisation is finished: what it made is not made again when somebody deletes it. */
export async function markInitialized(db: Db): Promise<void> {
  await sql.markInitialized.run(db);
}

const sql = statements("platform/installation");

/** The integration that is no channel: it has a column of its own and no settings. */
const TOOL_SERVER = "tool-server";

/**
 * Returns the SET clause that merges the settings $1 into those of the channel $4. The column comes from the channel's
 * descriptor, so it can be part of the statement.
 */
function mergeClause(id: ChannelId): string {
  const { settingsColumn: column }: ChannelDescriptor = CHANNELS[id];
  if (column === null) {
    return `channels = channels || jsonb_build_object($4::text, jsonb_build_object('config',
      coalesce(channels -> $4::text -> 'config', '{}') || $1::jsonb))`;
  }
  return `${column} = jsonb_set(${column}, '{config}', coalesce(${column} -> 'config', '{}') || $1::jsonb)`;
}

/** The settings, with the default of every one that is not set. */
export async function readChannels(db: Db): Promise<ChannelsConfig> {
  const row = await sql.readChannels.one<{
    enabled: string[];
    toolServerEnabled: boolean;
    /** Columns by name; `channels` has the settings of the channels without a column of their own. */
    settings: { channels: object };
    version: number;
  }>(db);
  const enabled = [...(row?.enabled ?? []), ...(row?.toolServerEnabled === true ? [TOOL_SERVER] : [])];
  return channelsConfigSchema.parse({ ...row?.settings.channels, ...row?.settings, enabled });
}

/** Switches a channel on or off; returns whether that changed anything. */
export async function setEnabled(db: Db, channelId: IntegrationId, enabled: boolean): Promise<boolean> {
  if (channelId === TOOL_SERVER) {
    return (await sql.setToolServerEnabled.run(db, { enabled })) > 0;
  }
  return (await sql.setEnabled.run(db, { channelId, enabled })) > 0;
}

/**
 * Changes settings of one channel, and switches it on or off where that is asked; fields that are not given stay.
 * Values must have passed their schema. With `ifVersion` nothing is changed once the settings have left that
 * version, and the widget is given no project that does not exist; returns whether they were changed.
 */
export async function updateChannel(
  db: Db,
  channelId: IntegrationId,
  config: object,
  { ifVersion, enabled }: { ifVersion?: number; enabled?: boolean | undefined } = {},
): Promise<boolean> {
  if (channelId === TOOL_SERVER) {
    return (await sql.updateToolServer.run(db, { version: ifVersion, toolServerEnabled: enabled })) > 0;
  }
  return db.transaction(async (tx) => {
    if (channelId === "widget" && "project" in config) {
      const count = await sql.lockProject.run(tx, {
        project: typeof config.project === "string" ? config.project : null,
      });
      if (count === 0) return false;
    }
    const rows = await tx.query(
      `UPDATE channels_config SET version = version + 1, updated_at = now(),
       ${mergeClause(channelId)},
       enabled = CASE $3::boolean
         WHEN true THEN array_remove(enabled, $4::text) || $4::text
         WHEN false THEN array_remove(enabled, $4::text)
         ELSE enabled END
     WHERE $2::integer IS NULL OR version = $2 RETURNING version`,
      [JSON.stringify(config), ifVersion ?? null, enabled ?? null, channelId],
    );
    return rows.length > 0;
  });
}

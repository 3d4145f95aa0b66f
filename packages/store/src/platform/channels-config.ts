import { channelsConfigSchema } from "@svc/contracts";
import type { IntegrationId, ChannelsConfig } from "@svc/contracts";
import type { Db } from "../db.ts";
import { statements } from "../sql.ts";

const sql = statements("platform/channels-config");

/** The integration that is no channel: it has a column of its own and no settings. */
const TOOL_SERVER = "tool-server";

/** The settings, with the default of every one that is not set. */
export async function read(db: Db): Promise<ChannelsConfig> {
  const row = await sql.read.one<{ enabled: string[]; toolServerEnabled: boolean }>(db);
  const enabled = [...(row?.enabled ?? []), ...(row?.toolServerEnabled === true ? [TOOL_SERVER] : [])];
  return channelsConfigSchema.parse({ ...row, enabled });
}

/** Switches a channel on or off; answers whether that changed anything. */
export async function setEnabled(db: Db, channelId: IntegrationId, enabled: boolean): Promise<boolean> {
  if (channelId === TOOL_SERVER) {
    return (await sql.setEnabled.run(db, { enabled })) > 0;
  }
  return (await sql.updateChannelsConfig.run(db, { channelId, enabled })) > 0;
}

/**
 * Changes settings of one channel, and switches it on or off where that is asked; fields that are not given stay.
 * Values must have passed their schema. With `ifVersion` nothing is changed once the settings have left that
 * version, and the widget is given no project that does not exist; answers whether they were changed.
 */
export async function update(
  db: Db,
  channelId: IntegrationId,
  config: object,
  { ifVersion, enabled }: { ifVersion?: number; enabled?: boolean | undefined } = {},
): Promise<boolean> {
  if (channelId === TOOL_SERVER) {
    return (await sql.update.run(db, { version: ifVersion, toolServerEnabled: enabled })) > 0;
  }
  return db.transaction(async (tx) => {
    if (channelId === "widget" && "project" in config) {
      const count = await sql.findProjects.run(tx, {
        project: typeof config.project === "string" ? config.project : null,
      });
      if (count === 0) return false;
    }
    // The column is one of three names that the type allows, so it can stand in the text.
    const rows = await tx.query(
      `UPDATE channels_config SET version = version + 1, updated_at = now(),
       ${channelId} = jsonb_set(${channelId}, '{config}', coalesce(${channelId} -> 'config', '{}') || $1::jsonb),
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

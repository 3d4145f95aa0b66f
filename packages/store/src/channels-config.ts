import { CHANNELS, CHANNEL_IDS, channelsConfigSchema } from "@svc/contracts";
import type { ChannelDescriptor, ChannelId, ChannelsConfig, IntegrationId } from "@svc/contracts";
import type { Db } from "./db.ts";

/** The integration that is no channel: it has a column of its own and no settings. */
const TOOL_SERVER = "tool-server";

const columnOf = (id: ChannelId): ChannelDescriptor["settingsColumn"] => CHANNELS[id].settingsColumn;

/** The channels whose settings have a column of their own; those of the others are in `channels`. */
const COLUMNS = CHANNEL_IDS.flatMap((id) => columnOf(id) ?? []);

/**
 * SET clause that merges the settings $1 into those of the channel $4. Columns come from the descriptors, so they can be
 * part of the statement.
 */
function mergeOf(id: ChannelId): string {
  const column = columnOf(id);
  if (column === null) {
    return `channels = channels || jsonb_build_object($4::text, jsonb_build_object('config',
      coalesce(channels -> $4::text -> 'config', '{}') || $1::jsonb))`;
  }
  return `${column} = jsonb_set(${column}, '{config}', coalesce(${column} -> 'config', '{}') || $1::jsonb)`;
}

/** The settings that change while the service runs: the one row of `channels_config`. */
export function channelsConfigTable(db: Db) {
  return {
    /** The settings, with the default of every one that is not set. */
    async read(): Promise<ChannelsConfig> {
      const [row] = await db.prepared<{ enabled: string[]; tool_server_enabled: boolean; channels: object }>(
        "channels_config_read",
        `SELECT enabled, tool_server_enabled, ${COLUMNS.join(", ")}, channels, version FROM channels_config`,
        [],
      );
      const enabled = [...(row?.enabled ?? []), ...(row?.tool_server_enabled === true ? [TOOL_SERVER] : [])];
      return channelsConfigSchema.parse({ ...row?.channels, ...row, enabled });
    },

    /** Switches a channel on or off; answers whether that changed anything. */
    async setEnabled(channelId: IntegrationId, enabled: boolean): Promise<boolean> {
      if (channelId === TOOL_SERVER) {
        const changed = await db.query(
          `UPDATE channels_config SET version = version + 1, updated_at = now(), tool_server_enabled = $1
           WHERE tool_server_enabled <> $1 RETURNING version`,
          [enabled],
        );
        return changed.length > 0;
      }
      const rows = await db.query(
        `UPDATE channels_config SET version = version + 1, updated_at = now(),
           enabled = CASE WHEN $2 THEN enabled || $1::text ELSE array_remove(enabled, $1::text) END
         WHERE ($1::text = ANY (enabled)) <> $2 RETURNING version`,
        [channelId, enabled],
      );
      return rows.length > 0;
    },

    /**
     * Changes settings of one channel, and switches it on or off where that is asked; fields that are not given stay.
     * Values must have passed their schema. With `ifVersion` nothing is changed once the settings have left that
     * version, and the widget is given no project that does not exist; answers whether they were changed.
     */
    async update(
      channelId: IntegrationId,
      config: object,
      { ifVersion, enabled }: { ifVersion?: number; enabled?: boolean | undefined } = {},
    ): Promise<boolean> {
      if (channelId === TOOL_SERVER) {
        const rows = await db.query(
          `UPDATE channels_config SET version = version + 1, updated_at = now(),
             tool_server_enabled = coalesce($2::boolean, tool_server_enabled)
           WHERE $1::integer IS NULL OR version = $1 RETURNING version`,
          [ifVersion ?? null, enabled ?? null],
        );
        return rows.length > 0;
      }
      return db.transaction(async (tx) => {
        if (channelId === "widget" && "project" in config) {
          // Locks the project against a deletion and another name, which look at the widget while they hold its row.
          const found = await tx.query("SELECT 1 FROM projects WHERE name = $1 AND deleted_at IS NULL FOR KEY SHARE", [
            config.project,
          ]);
          if (found.length === 0) return false;
        }
        const rows = await tx.query(
          `UPDATE channels_config SET version = version + 1, updated_at = now(),
           ${mergeOf(channelId)},
           enabled = CASE $3::boolean
             WHEN true THEN array_remove(enabled, $4::text) || $4::text
             WHEN false THEN array_remove(enabled, $4::text)
             ELSE enabled END
         WHERE $2::integer IS NULL OR version = $2 RETURNING version`,
          [JSON.stringify(config), ifVersion ?? null, enabled ?? null, channelId],
        );
        return rows.length > 0;
      });
    },
  };
}

import { channelsConfigSchema } from "@svc/contracts";
import type { IntegrationId, ChannelsConfig } from "@svc/contracts";
import type { Db } from "../db.ts";

/** The integration that is no channel: it has a column of its own and no settings. */
const TOOL_SERVER = "tool-server";

/** The settings that change while the service runs: the one row of `channels_config`. */
export function channelsConfigTable(db: Db) {
  return {
    /** The settings, with the default of every one that is not set. */
    async read(): Promise<ChannelsConfig> {
      const [row] = await db.prepared<{ enabled: string[]; tool_server_enabled: boolean }>(
        "channels_config_read",
        "SELECT enabled, tool_server_enabled, api, widget, messenger, version FROM channels_config",
        [],
      );
      const enabled = [...(row?.enabled ?? []), ...(row?.tool_server_enabled === true ? [TOOL_SERVER] : [])];
      return channelsConfigSchema.parse({ ...row, enabled });
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
    },
  };
}

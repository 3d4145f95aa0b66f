-- name: read (prepared)
-- The settings, with the default of every one that is not set.
SELECT enabled, tool_server_enabled, api, widget, messenger, version FROM channels_config;

-- name: setEnabled
-- Switches a channel on or off. Locks the rows of channels_config that it writes.
UPDATE channels_config SET version = version + 1, updated_at = now(), tool_server_enabled = :enabled
WHERE tool_server_enabled <> :enabled RETURNING version;

-- name: updateChannelsConfig
-- Locks the rows of channels_config that it writes.
UPDATE channels_config SET version = version + 1, updated_at = now(),
  enabled = CASE WHEN :enabled THEN enabled || :channel_id::text ELSE array_remove(enabled, :channel_id::text) END
WHERE (:channel_id::text = ANY (enabled)) <> :enabled RETURNING version;

-- name: update
-- Changes settings of one channel, and switches it on or off where that is asked. Locks the rows of channels_config
-- that it writes.
UPDATE channels_config SET version = version + 1, updated_at = now(),
  tool_server_enabled = coalesce(:tool_server_enabled::boolean, tool_server_enabled)
WHERE :version::integer IS NULL OR version = :version RETURNING version;

-- name: findProjects
-- Locks the project against a deletion and another name, which look at the widget while they hold its row.
SELECT 1 FROM projects WHERE name = :project AND deleted_at IS NULL FOR KEY SHARE;

-- name: setSecretKeyCheck
-- Stores the check value of the secret key, unless there is one. Locks the rows of installation that it writes.
UPDATE installation SET secret_key_check = :sealed WHERE secret_key_check IS NULL;

-- name: readSecretKeyCheck
-- The check value that the installation's secret key has sealed.
SELECT secret_key_check FROM installation;

-- name: lockInitialization
-- Locks the initialization of this store.
SELECT pg_advisory_xact_lock(:initialize_lock);

-- name: setLockTimeout
-- On a busy machine, initialization may leave this connection idle for longer than transactions may be.
SET LOCAL idle_in_transaction_session_timeout = '5min';

-- name: isInitialized
-- Whether the first initialization has finished.
SELECT initialized_at IS NOT NULL AS done FROM installation;

-- name: isAdminKeyShown
-- Whether the first administrator key was shown.
SELECT admin_key_shown_at IS NOT NULL AS done FROM installation;

-- name: markAdminKeyShown
-- Records that the first administrator key was shown. Locks the rows of installation that it writes.
UPDATE installation SET admin_key_shown_at = now() WHERE admin_key_shown_at IS NULL;

-- name: markInitialized
-- Records that the first initialization has finished: what it created is not created again after a deletion. Locks the
-- rows of installation that it writes.
UPDATE installation SET initialized_at = now() WHERE initialized_at IS NULL;

-- name: findModelSettings
-- The stored settings of the language model server, if any.
SELECT model_settings AS settings FROM installation WHERE model_settings IS NOT NULL;

-- name: setModelSettings
-- Stores or removes the settings of the language model server. Locks the rows of installation that it writes.
UPDATE installation SET model_settings = :settings::jsonb;

-- name: readChannels (prepared)
-- The settings, with defaults for those that are not set.
SELECT {{channelsColumns}} FROM channels_config;

-- name: setToolServerEnabled
-- Switches a channel on or off. Locks the rows of channels_config that it writes.
UPDATE channels_config SET version = version + 1, updated_at = now(), tool_server_enabled = :enabled
WHERE tool_server_enabled <> :enabled RETURNING version;

-- name: setEnabled
-- Switches a channel on or off. Locks the rows of channels_config that it writes.
UPDATE channels_config SET version = version + 1, updated_at = now(),
  enabled = CASE WHEN :enabled THEN enabled || :channel_id::text ELSE array_remove(enabled, :channel_id::text) END
WHERE (:channel_id::text = ANY (enabled)) <> :enabled RETURNING version;

-- name: updateToolServer
-- Changes settings of one channel, and optionally switches it on or off. Locks the rows of channels_config that it
-- writes.
UPDATE channels_config SET version = version + 1, updated_at = now(),
  tool_server_enabled = coalesce(:tool_server_enabled::boolean, tool_server_enabled)
WHERE :version::integer IS NULL OR version = :version RETURNING version;

-- name: lockProject
-- Locks the widget's project against deletion and renaming, which check the widget while they hold its row.
SELECT 1 FROM projects WHERE name = :project AND deleted_at IS NULL FOR KEY SHARE;

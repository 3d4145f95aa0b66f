-- name: setSecretKeyCheck
-- Compares the secret key of this process with the one that sealed this store's secrets. Locks the rows of installation
-- that it writes.
UPDATE installation SET secret_key_check = :sealed WHERE secret_key_check IS NULL;

-- name: readSecretKeyCheck
-- What the secret key of the installation has sealed.
SELECT secret_key_check FROM installation;

-- name: lockInitialization
-- Runs `work` while no other process initialises this store.
SELECT pg_advisory_xact_lock(:initialize_lock);

-- name: setLockTimeout
-- On a busy machine the work, in which this connection does nothing, takes longer than transactions may be idle.
SET LOCAL idle_in_transaction_session_timeout = '5min';

-- name: isInitialized
-- True once the first initialisation has been finished.
SELECT initialized_at IS NOT NULL AS done FROM installation;

-- name: isAdminKeyShown
-- True once somebody was shown the first administrator's key.
SELECT admin_key_shown_at IS NOT NULL AS done FROM installation;

-- name: markAdminKeyShown
-- Notes that somebody was shown the first administrator's key. Locks the rows of installation that it writes.
UPDATE installation SET admin_key_shown_at = now() WHERE admin_key_shown_at IS NULL;

-- name: markInitialized
-- Notes that the first initialisation is finished: what it made is not made again when somebody deletes it. Locks the
-- rows of installation that it writes.
UPDATE installation SET initialized_at = now() WHERE initialized_at IS NULL;

-- name: findModelSettings
-- The stored settings of the server with language models; none while there are none.
SELECT model_settings AS settings FROM installation WHERE model_settings IS NOT NULL;

-- name: setModelSettings
-- Stores or removes the settings of the server with language models. Locks the rows of installation that it writes.
UPDATE installation SET model_settings = :settings::jsonb;

-- name: readChannels (prepared)
-- The settings, with the default of every one that is not set.
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
-- Changes settings of one channel, and switches it on or off where that is asked. Locks the rows of channels_config
-- that it writes.
UPDATE channels_config SET version = version + 1, updated_at = now(),
  tool_server_enabled = coalesce(:tool_server_enabled::boolean, tool_server_enabled)
WHERE :version::integer IS NULL OR version = :version RETURNING version;

-- name: lockProject
-- Locks the project that the widget is given against a deletion and a new name, which look at the widget while they
-- hold its row.
SELECT 1 FROM projects WHERE name = :project AND deleted_at IS NULL FOR KEY SHARE;

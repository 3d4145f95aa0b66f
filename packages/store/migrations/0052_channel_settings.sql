-- Up Migration

-- Settings of the channels without a column of their own, by channel: {"<id>": {"config": {}}}. A new channel needs no
-- migration.
ALTER TABLE channels_config ADD COLUMN channels jsonb NOT NULL DEFAULT '{}';

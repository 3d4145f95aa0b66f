-- Up Migration

-- Whether the tool server is switched on. A column of its own beside `enabled`: the version before reads that list and
-- knows only the three channels.
ALTER TABLE channels_config ADD COLUMN tool_server_enabled boolean NOT NULL DEFAULT true;

-- Up Migration

-- The sweeper has found, a day after it came, that its message did too. What is reserved and never comes is removed.
ALTER TABLE widget_messages ADD COLUMN is_kept boolean NOT NULL DEFAULT false;
CREATE INDEX widget_messages_unused ON widget_messages (created_at) WHERE NOT is_kept;

-- What of a project waits for a message is bounded: visitors make their own chats.
CREATE INDEX widget_files_waiting ON widget_files (project_id) WHERE message_id IS NULL;

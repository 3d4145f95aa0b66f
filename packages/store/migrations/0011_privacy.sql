-- Up Migration

-- When it was deleted: from then on nobody finds it, and its name is free. What it held is removed afterwards, a little
-- at a time.
ALTER TABLE projects ADD COLUMN deleted_at timestamptz;
-- When it is looked at next for what has been kept for longer than its retention_days, or, once it is deleted, for what
-- is left of it. Whoever looks puts it off, so that replicas share the work.
ALTER TABLE projects ADD COLUMN purge_at timestamptz NOT NULL DEFAULT now();
-- Grows with each conversation that is erased, so that processes forget what they have learned from it.
ALTER TABLE projects ADD COLUMN erasures bigint NOT NULL DEFAULT 0;
CREATE INDEX projects_purge ON projects (purge_at) WHERE retention_days IS NOT NULL OR deleted_at IS NOT NULL;

-- An erased chat keeps its row, with an empty chat_id and nothing else that says whose it was: its last_seq, from which
-- the places go on should anybody write in it again. The next message writes the chat_id anew.
COMMENT ON COLUMN chats.chat_id IS 'empty while the chat is erased';
-- The version that its ticket had when it was erased, from which the versions go on too: what somebody has read of the
-- former ticket must not pass for what the new one is.
ALTER TABLE chats ADD COLUMN ticket_version integer NOT NULL DEFAULT 0;
-- Leads through the conversations of a project, to those that have been kept for too long and to all of a deleted one.
CREATE INDEX chats_of_project ON chats (project_id, ticket_id);

-- Who wrote a message, as a number: what a sender calls itself in `meta` may be of any length.
CREATE INDEX messages_of_user ON messages (hashtextextended(coalesce(user_id, channel_meta ->> 'userId'), 0))
  WHERE coalesce(user_id, channel_meta ->> 'userId') IS NOT NULL;

-- A kept answer holds replies, so it goes with its message.
CREATE INDEX idempotency_keys_of_message ON idempotency_keys (message_id);

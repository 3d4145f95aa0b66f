-- Up Migration

-- Which process holds the lease on a chat, and how many messages it ran exclusively when it claimed this one; NULL for the
-- size when it was claimed like any other. Valid while lease_id is set.
ALTER TABLE chats ADD COLUMN lease_holder uuid;
ALTER TABLE chats ADD COLUMN lease_group integer;

-- Leases on this work that expired before it was finished, in their order: [{"process", "group", "until"}]. Whether the
-- process had crashed or was only slow is in `processes`. NULL if every lease was released.
ALTER TABLE messages ADD COLUMN expired_leases jsonb;
ALTER TABLE reviews ADD COLUMN expired_leases jsonb;

ALTER TABLE ingests ADD COLUMN lease_holder uuid;
ALTER TABLE ingests ADD COLUMN expired_leases jsonb;

ALTER TABLE outboxes ADD COLUMN lease_holder uuid;
ALTER TABLE outboxes ADD COLUMN expired_leases jsonb;

-- When the process itself reported that an unexpected error ends it.
ALTER TABLE processes ADD COLUMN crashed_at timestamptz;

-- Up Migration

-- The unfinished messages of each project: how long its backlog is, and which of them are due.
CREATE INDEX messages_backlog ON messages (project_id, due_at) WHERE state = 'received';

-- Up Migration

-- Days that files of visitors are kept; NULL: as long as their conversation.
ALTER TABLE projects ADD COLUMN file_retention_days integer DEFAULT 90;
-- When expired files of the project are looked for next. Projects that exist have a week to choose another number.
ALTER TABLE projects ADD COLUMN file_purge_at timestamptz NOT NULL DEFAULT now() + interval '7 days';
ALTER TABLE projects ALTER COLUMN file_purge_at SET DEFAULT now();

-- When the retention of files removed the content; the row stays, so that the conversation shows what was sent.
ALTER TABLE widget_files ADD COLUMN expired_at timestamptz;
CREATE INDEX widget_files_by_age ON widget_files (project_id, created_at) WHERE expired_at IS NULL;

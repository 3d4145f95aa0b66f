-- Up Migration

-- Limits of a project by name (`messagesPerDay`, `documents`, `storageMb`, `sockets`). A name that is missing: no limit.
ALTER TABLE projects ADD COLUMN quotas jsonb NOT NULL DEFAULT '{}';

-- The row that each stored message and document writes already also counts it, so that counting needs no statement.
-- Messages (kind texts) or documents that were added by what wrote this row.
ALTER TABLE stored_bytes ADD COLUMN added integer NOT NULL DEFAULT 0;
-- Day (UTC) of the change; NULL for a row that others were folded into, and for rows before this migration.
ALTER TABLE stored_bytes ADD COLUMN day date;

-- What a project used by day (UTC), of the rows of stored_bytes that were folded. What is not folded yet is added when
-- this is read.
CREATE TABLE usage_days (
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  day date NOT NULL,
  -- Messages that were accepted, and documents that were added. Removing them takes nothing away.
  messages bigint NOT NULL DEFAULT 0,
  documents bigint NOT NULL DEFAULT 0,
  -- By how many bytes the stored content changed.
  bytes bigint NOT NULL DEFAULT 0,
  -- Maximum of widget sockets that were open at the same time.
  sockets integer NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, day)
) WITH (fillfactor = 80);

-- Widget sockets that are open in the process.
ALTER TABLE channel_states ADD COLUMN sockets integer NOT NULL DEFAULT 0;

CREATE OR REPLACE FUNCTION count_stored_contents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stored_bytes (project_id, kind, day, bytes)
  SELECT project_id, TG_ARGV[0], (now() AT TIME ZONE 'UTC')::date,
    CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END * sum(octet_length(content))
  FROM changed GROUP BY project_id HAVING sum(octet_length(content)) > 0;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION count_stored_texts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  is_message boolean := TG_OP = 'INSERT' AND TG_ARGV[0] = 'texts';
BEGIN
  INSERT INTO stored_bytes (project_id, kind, day, bytes, added)
  SELECT project_id, TG_ARGV[0], (now() AT TIME ZONE 'UTC')::date,
    CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END * sum(octet_length(text)), CASE WHEN is_message THEN count(*) ELSE 0 END
  FROM changed GROUP BY project_id HAVING is_message OR sum(octet_length(text)) > 0;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION count_stored_ingests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stored_bytes (project_id, kind, day, bytes)
  SELECT project_id, TG_ARGV[0], (now() AT TIME ZONE 'UTC')::date,
    CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END * sum(size_bytes)
  FROM changed GROUP BY project_id HAVING sum(size_bytes) > 0;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION count_stored_content() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN added := added - coalesce(octet_length(OLD.content), 0); END IF;
  IF TG_OP <> 'DELETE' THEN added := added + coalesce(octet_length(NEW.content), 0); END IF;
  IF added <> 0 THEN
    INSERT INTO stored_bytes (project_id, kind, day, bytes)
    VALUES (CASE TG_OP WHEN 'DELETE' THEN OLD.project_id ELSE NEW.project_id END, TG_ARGV[0],
      (now() AT TIME ZONE 'UTC')::date, added);
  END IF;
  RETURN NULL;
END $$;

-- A document that replaces another one is not inserted, so it is not counted.
CREATE FUNCTION count_added_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stored_bytes (project_id, kind, day, bytes, added)
  SELECT project_id, 'documents', (now() AT TIME ZONE 'UTC')::date, 0, count(*) FROM changed GROUP BY project_id;
  RETURN NULL;
END $$;
CREATE TRIGGER documents_added AFTER INSERT ON documents REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_added_documents();

-- A trigger, so that folds of the previous version count too. Days are locked in one order. A project that is removed has
-- no usage.
CREATE FUNCTION count_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_days AS u (project_id, day, messages, documents, bytes)
  SELECT f.project_id, f.day, coalesce(sum(f.added) FILTER (WHERE f.kind = 'texts'), 0),
    coalesce(sum(f.added) FILTER (WHERE f.kind = 'documents'), 0), sum(f.bytes)
  FROM folded f JOIN projects p ON p.id = f.project_id
  WHERE f.day IS NOT NULL GROUP BY f.project_id, f.day ORDER BY f.project_id, f.day
  ON CONFLICT (project_id, day) DO UPDATE SET messages = u.messages + excluded.messages,
    documents = u.documents + excluded.documents, bytes = u.bytes + excluded.bytes;
  RETURN NULL;
END $$;
CREATE TRIGGER stored_bytes_folded AFTER DELETE ON stored_bytes REFERENCING OLD TABLE AS folded
  FOR EACH STATEMENT EXECUTE FUNCTION count_usage();

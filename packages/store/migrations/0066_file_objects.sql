-- Up Migration

-- Where the content of a file is if it was moved to an object store: the name of the object, and its size. NULL: the
-- content is in `content`.
ALTER TABLE widget_files ADD COLUMN object_id uuid;
ALTER TABLE widget_files ADD COLUMN object_bytes integer;
-- Files to move, oldest first.
CREATE INDEX widget_files_to_move ON widget_files (created_at) WHERE object_id IS NULL AND expired_at IS NULL;

-- Objects that no file needs any more, until they are deleted. An object has a row here before it is written, and loses it
-- when a file names it: so each object that was ever written is named by a file or by a row here, whatever crashes.
CREATE TABLE object_deletions (
  object_id uuid PRIMARY KEY,
  -- True while the object is being written; the one that deletes it sets it to false.
  is_reserved boolean NOT NULL DEFAULT false,
  due_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX object_deletions_due ON object_deletions (due_at);

-- Stored bytes count in both places: moving a file changes nothing. The object of a removed file is deleted later, whichever
-- statement or foreign key removes the file.
CREATE FUNCTION count_removed_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stored_bytes (project_id, kind, day, bytes)
  SELECT project_id, 'visitorFiles', (now() AT TIME ZONE 'UTC')::date, -sum(coalesce(object_bytes, octet_length(content)))
  FROM changed GROUP BY project_id HAVING sum(coalesce(object_bytes, octet_length(content))) > 0;
  INSERT INTO object_deletions (object_id) SELECT object_id FROM changed WHERE object_id IS NOT NULL
  ON CONFLICT (object_id) DO NOTHING;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER widget_files_removed AFTER DELETE ON widget_files REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_removed_files();

CREATE FUNCTION count_changed_file() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint := coalesce(NEW.object_bytes, octet_length(NEW.content))
    - coalesce(OLD.object_bytes, octet_length(OLD.content));
BEGIN
  IF added <> 0 THEN
    INSERT INTO stored_bytes (project_id, kind, day, bytes)
    VALUES (NEW.project_id, 'visitorFiles', (now() AT TIME ZONE 'UTC')::date, added);
  END IF;
  IF OLD.object_id IS NOT NULL AND NEW.object_id IS NULL THEN
    INSERT INTO object_deletions (object_id) VALUES (OLD.object_id) ON CONFLICT (object_id) DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER widget_files_changed AFTER UPDATE OF content, object_id ON widget_files
  FOR EACH ROW EXECUTE FUNCTION count_changed_file();

-- Up Migration

-- How many bytes a project stores, by kind. Rows are only ever added (a negative number takes bytes away) and folded into
-- one row now and then, so that counting locks nothing. Triggers add them in the transaction that stores or removes the
-- bytes, whichever statement or foreign key does so.
CREATE TABLE stored_bytes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL,
  -- visitorFiles, operatorFiles, replyFiles, hookBodies, documents or texts.
  kind text NOT NULL,
  bytes bigint NOT NULL
);
CREATE INDEX stored_bytes_of_project ON stored_bytes (project_id, kind) INCLUDE (bytes);

-- For statements on tables with content; the kind is the argument of the trigger.
CREATE FUNCTION count_stored_contents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stored_bytes (project_id, kind, bytes)
  SELECT project_id, TG_ARGV[0], CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END * sum(octet_length(content))
  FROM changed GROUP BY project_id HAVING sum(octet_length(content)) > 0;
  RETURN NULL;
END $$;

-- For statements on tables with text.
CREATE FUNCTION count_stored_texts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stored_bytes (project_id, kind, bytes)
  SELECT project_id, TG_ARGV[0], CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END * sum(octet_length(text))
  FROM changed GROUP BY project_id HAVING sum(octet_length(text)) > 0;
  RETURN NULL;
END $$;

-- For statements on ingests, whose bytes lie in ingest_parts.
CREATE FUNCTION count_stored_ingests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stored_bytes (project_id, kind, bytes)
  SELECT project_id, TG_ARGV[0], CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END * sum(size_bytes)
  FROM changed GROUP BY project_id HAVING sum(size_bytes) > 0;
  RETURN NULL;
END $$;

-- For single rows: of a table in which few rows have content, and for a content that changes.
CREATE FUNCTION count_stored_content() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  added bigint := 0;
BEGIN
  IF TG_OP <> 'INSERT' THEN added := added - coalesce(octet_length(OLD.content), 0); END IF;
  IF TG_OP <> 'DELETE' THEN added := added + coalesce(octet_length(NEW.content), 0); END IF;
  IF added <> 0 THEN
    INSERT INTO stored_bytes (project_id, kind, bytes)
    VALUES (CASE TG_OP WHEN 'DELETE' THEN OLD.project_id ELSE NEW.project_id END, TG_ARGV[0], added);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER widget_files_added AFTER INSERT ON widget_files REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_contents('visitorFiles');
CREATE TRIGGER widget_files_removed AFTER DELETE ON widget_files REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_contents('visitorFiles');
CREATE TRIGGER widget_files_changed AFTER UPDATE OF content ON widget_files
  FOR EACH ROW EXECUTE FUNCTION count_stored_content('visitorFiles');

CREATE TRIGGER operator_files_added AFTER INSERT ON operator_files REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_contents('operatorFiles');
CREATE TRIGGER operator_files_removed AFTER DELETE ON operator_files REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_contents('operatorFiles');

CREATE TRIGGER hook_bodies_added AFTER INSERT ON hook_bodies REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_contents('hookBodies');
CREATE TRIGGER hook_bodies_removed AFTER DELETE ON hook_bodies REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_contents('hookBodies');

-- Most replies have no content, and must not pay for the few that have.
CREATE TRIGGER replies_added AFTER INSERT ON replies
  FOR EACH ROW WHEN (NEW.content IS NOT NULL) EXECUTE FUNCTION count_stored_content('replyFiles');
CREATE TRIGGER replies_removed AFTER DELETE ON replies
  FOR EACH ROW WHEN (OLD.content IS NOT NULL) EXECUTE FUNCTION count_stored_content('replyFiles');

CREATE TRIGGER ingests_added AFTER INSERT ON ingests REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_ingests('documents');
CREATE TRIGGER ingests_removed AFTER DELETE ON ingests REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_ingests('documents');

CREATE TRIGGER chunks_added AFTER INSERT ON chunks REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_texts('documents');
CREATE TRIGGER chunks_removed AFTER DELETE ON chunks REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_texts('documents');

CREATE TRIGGER messages_added AFTER INSERT ON messages REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_texts('texts');
CREATE TRIGGER messages_removed AFTER DELETE ON messages REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_texts('texts');

-- What is stored already. The triggers above lock their tables against writers until this is committed, so that nothing
-- is counted twice or left out. The size of a value is known without reading it.
INSERT INTO stored_bytes (project_id, kind, bytes)
SELECT project_id, kind, sum(bytes) FROM (
  SELECT project_id, 'visitorFiles' AS kind, octet_length(content) AS bytes FROM widget_files
  UNION ALL SELECT project_id, 'operatorFiles', octet_length(content) FROM operator_files
  UNION ALL SELECT project_id, 'replyFiles', octet_length(content) FROM replies WHERE content IS NOT NULL
  UNION ALL SELECT project_id, 'hookBodies', octet_length(content) FROM hook_bodies
  UNION ALL SELECT project_id, 'documents', size_bytes FROM ingests
  UNION ALL SELECT project_id, 'documents', octet_length(text) FROM chunks
  UNION ALL SELECT project_id, 'texts', octet_length(text) FROM messages
) stored GROUP BY project_id, kind HAVING sum(bytes) > 0;

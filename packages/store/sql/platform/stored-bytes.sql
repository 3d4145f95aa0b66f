-- name: sumKind (prepared)
-- Reads few rows: one per project and kind, and those added since the last fold. Locks nothing.
SELECT coalesce(sum(bytes) FILTER (WHERE project_id = :project AND kind = :kind), 0)::float8 AS of_kind,
  coalesce(sum(bytes) FILTER (WHERE project_id = :project), 0)::float8 AS of_project,
  coalesce(sum(bytes) FILTER (WHERE kind = :kind), 0)::float8 AS of_kind_everywhere,
  coalesce(sum(bytes), 0)::float8 AS of_installation,
  (SELECT quotas ->> 'storageMb' FROM projects WHERE id = :project)::float8 AS quota_mb
FROM stored_bytes;

-- name: readProject
-- Storage of a project, by kind.
SELECT kind, sum(bytes)::float8 AS bytes FROM stored_bytes WHERE project_id = :project GROUP BY kind;

-- name: read
-- Storage of every project, by kind.
SELECT s.project_id, p.name, s.kind, s.bytes::float8 AS bytes FROM (
  SELECT project_id, kind, sum(bytes) AS bytes FROM stored_bytes GROUP BY project_id, kind
) s LEFT JOIN projects p ON p.id = s.project_id ORDER BY p.name, s.project_id;

-- name: fold
-- Deletes and inserts in one statement, so that a reader sees either the old rows or the new one. SKIP LOCKED shares
-- the work among replicas.
WITH folded AS (
  DELETE FROM stored_bytes WHERE id IN (
    SELECT s.id FROM stored_bytes s JOIN (
      SELECT project_id, kind FROM stored_bytes GROUP BY project_id, kind HAVING count(*) > 1
    ) many USING (project_id, kind) LIMIT {{foldMax}} FOR UPDATE OF s SKIP LOCKED
  ) RETURNING project_id, kind, bytes
), added AS (
  INSERT INTO stored_bytes (project_id, kind, bytes)
  SELECT project_id, kind, sum(bytes) FROM folded GROUP BY project_id, kind HAVING sum(bytes) <> 0
)
SELECT count(*)::integer AS count FROM folded;

-- name: list
-- An operator's views, in the order in which they were saved.
SELECT v.name, p.name AS project, v.part, v.filters
FROM operator_views v LEFT JOIN projects p ON p.id = v.project_id
WHERE v.operator_id = :operator_id AND (v.project_id IS NULL OR p.deleted_at IS NULL)
ORDER BY v.created_at, v.name COLLATE "C";

-- name: put
-- Keeps a view in the place of the one of the same name. Locks the rows of operators that it reads.
SELECT 1 FROM operators WHERE id = :operator_id FOR NO KEY UPDATE;

-- name: insertOperatorViews
-- Locks the rows of operator_views that it writes.
INSERT INTO operator_views (operator_id, name, project_id, part, filters)
SELECT :operator_id::uuid, :name::text, :project::uuid, :view::text, :filters::jsonb
WHERE (SELECT count(*) FROM operator_views WHERE operator_id = :operator_id AND name <> :name) < :max_count
ON CONFLICT (operator_id, name) DO UPDATE SET project_id = EXCLUDED.project_id, part = EXCLUDED.part,
  filters = EXCLUDED.filters
RETURNING 1;

-- name: remove
-- Deletes a view. Locks the rows of operator_views that it writes.
DELETE FROM operator_views WHERE operator_id = :operator_id AND name = :name RETURNING 1;

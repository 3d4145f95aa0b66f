-- fragment: today
-- Today (UTC), independent of the time zone of the connection.
(now() AT TIME ZONE 'UTC')::date

-- name: find (prepared)
-- The limits of a project, and the usage that is checked before each use: messages of today, including those that are
-- not folded yet, and sockets of other processes. Usage without a limit is not counted. Locks nothing.
SELECT quotas, CASE WHEN quotas ? 'messagesPerDay' THEN (
    SELECT coalesce(sum(added), 0) FROM stored_bytes WHERE project_id = :project AND kind = 'texts' AND day = {{today}}
  ) + coalesce((SELECT messages FROM usage_days WHERE project_id = :project AND day = {{today}}), 0)
  ELSE 0 END::float8 AS messages_today,
  CASE WHEN quotas ? 'sockets' THEN (
    SELECT coalesce(sum(sockets), 0) FROM channel_states
    WHERE channel_id = 'widget' AND replica <> :replica AND reported_at > now() - interval '{{reportedWithinMs}} milliseconds'
  ) ELSE 0 END::float8 AS other_sockets
FROM projects WHERE id = :project;

-- name: countDocuments
-- The documents of a project and their limit; no row if it has none. Locks nothing.
SELECT (quotas ->> 'documents')::float8 AS limit, (
  SELECT count(*) FROM documents d JOIN kbs k ON k.id = d.kb_id
  WHERE d.project_id = :project AND k.deleted_at IS NULL
)::float8 AS used
FROM projects WHERE id = :project AND quotas ? 'documents';

-- name: listDays
-- The usage of a project by day, newest first. The bytes at the end of a day are the current ones minus later changes.
-- One statement sees each change either folded or not. Locks nothing.
WITH changes AS (
  SELECT project_id, day, messages, documents, bytes, sockets, 0 AS tokens FROM usage_days
  WHERE day >= :from::date AND (:project::uuid IS NULL OR project_id = :project)
  UNION ALL
  SELECT project_id, day, CASE kind WHEN 'texts' THEN added ELSE 0 END, CASE kind WHEN 'documents' THEN added ELSE 0 END,
    bytes, 0, 0
  FROM stored_bytes WHERE day >= :from::date AND (:project::uuid IS NULL OR project_id = :project)
  UNION ALL
  SELECT project_id, day, 0, 0, 0, 0, tokens FROM model_days
  WHERE day >= :from::date AND (:project::uuid IS NULL OR project_id = :project)
), changed AS (
  SELECT project_id, day, sum(messages) AS messages, sum(documents) AS documents, sum(bytes) AS bytes,
    max(sockets) AS sockets, sum(tokens) AS tokens
  FROM changes GROUP BY project_id, day
), stored AS (
  SELECT project_id, sum(bytes) AS bytes FROM stored_bytes GROUP BY project_id
), days AS (
  SELECT p.id AS project_id, p.name, d.day::date AS day, coalesce(c.messages, 0) AS messages,
    coalesce(c.documents, 0) AS documents, coalesce(c.sockets, 0) AS sockets, coalesce(c.tokens, 0) AS tokens,
    coalesce(s.bytes, 0) - coalesce(sum(c.bytes) OVER (
      PARTITION BY p.id ORDER BY d.day DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes
  FROM projects p
  CROSS JOIN LATERAL generate_series(
    greatest(:from::date, (p.created_at AT TIME ZONE 'UTC')::date), {{today}}, interval '1 day') d (day)
  LEFT JOIN changed c ON c.project_id = p.id AND c.day = d.day::date
  LEFT JOIN stored s ON s.project_id = p.id
  WHERE p.deleted_at IS NULL AND (:project::uuid IS NULL OR p.id = :project)
)
SELECT to_char(day, 'YYYY-MM-DD') AS day, name AS project, project_id, messages::float8 AS messages,
  documents::float8 AS documents, bytes::float8 AS stored_bytes, sockets, tokens::float8 AS model_tokens
FROM days WHERE day <= :to::date ORDER BY days.day DESC, name LIMIT :limit;

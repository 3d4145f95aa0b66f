-- fragment: day
-- Independent of the server's DateStyle. Beware of `ORDER BY day`, which sorts by this text.
to_char(day, 'YYYY-MM-DD') AS day

-- fragment: event_columns
id, at, actor, action, object, project, result, request_id, count, network

-- fragment: chain_columns
{{event_columns}}, {{day}}, number, project_id, hash

-- name: appendAll
-- All appends wait for the lock below: a process that has vanished must not hold it for hours.
SET LOCAL idle_in_transaction_session_timeout = '5s';

-- name: lockHead
-- Locks the one row that records the end of the chain, and takes no earlier lock, so that appends can only wait for
-- each other. All processes use the clock of the database.
SELECT {{day}}, number, at, hash, clock_timestamp()::timestamptz(3) AS now FROM audit_head FOR UPDATE;

-- name: insertEvents
-- Inserts events at the end of the chain. Locks the rows of audit_events that it writes.
INSERT INTO audit_events (id, day, number, at, actor, action, object, project_id, project, result, request_id,
  count, network, hash)
SELECT * FROM unnest(:id::uuid[], :day::date[], :number::integer[], :at::timestamptz[], :actor::text[], :action::text[],
  :object::text[], :project_id::uuid[], :project::text[], :result::text[], :request_id::text[], :count::integer[],
    :network::text[], :hash::bytea[]);

-- name: moveHead
-- Moves the end of the chain. The caller has locked it.
UPDATE audit_head SET day = :day, number = :number, at = :at, hash = :hash;

-- name: readHead
-- The end of the chain.
SELECT {{day}}, number, at, hash FROM audit_head;

-- name: readAfter
-- The next rows of the chain after a position.
SELECT {{chain_columns}} FROM audit_events e WHERE (e.day, e.number) > (:day::date, :number::integer)
ORDER BY e.day, e.number LIMIT :check_page;

-- name: findHash
-- The hash of the row at a position, in hexadecimal.
SELECT hash FROM audit_events WHERE day = :day AND number = :number;

-- name: findBefore
-- The last position before a day.
SELECT {{day}}, number, hash FROM audit_events e WHERE e.day < :day ORDER BY e.day DESC, e.number DESC LIMIT 1;

-- name: listPage
-- Rows, newest first: those before the row with id `before` that match the filter. Times are bounds of the id, so that
-- each filter needs only one index.
SELECT {{event_columns}} FROM audit_events
WHERE (:id::uuid IS NULL OR id < :id) AND (:id2::uuid IS NULL OR id >= :id2) AND (:id3::uuid IS NULL OR id < :id3)
  AND (:project_id::uuid IS NULL OR project_id = :project_id) AND (:project::text IS NULL OR project = :project)
  AND (:actor::text IS NULL OR actor = :actor) AND (:action::text IS NULL OR action = :action)
  AND (:object::text IS NULL OR object = :object) AND (:result::text IS NULL OR result = :result)
ORDER BY id DESC LIMIT :limit;

-- name: findNames
-- Names of actors and objects of events that belong to the project.
SELECT id, name FROM operators WHERE id = ANY(:actor_ids::uuid[]) OR (:project::uuid IS NULL
  AND id = ANY(:object_ids::uuid[]))
UNION ALL SELECT id, name FROM api_keys
  WHERE id = ANY(:actor_ids::uuid[]) OR (id = ANY(:object_ids::uuid[]) AND (:project IS NULL OR project_id = :project))
UNION ALL SELECT id, name FROM projects WHERE id = ANY(:object_ids::uuid[]) AND (:project IS NULL OR id = :project)
UNION ALL SELECT id, name FROM agents
  WHERE id = ANY(:object_ids::uuid[]) AND (:project IS NULL OR project_id = :project)
UNION ALL SELECT id, name FROM kbs
  WHERE id = ANY(:object_ids::uuid[]) AND (:project IS NULL OR project_id = :project)
UNION ALL SELECT id, name FROM hooks
  WHERE id = ANY(:object_ids::uuid[]) AND (:project IS NULL OR project_id = :project)
UNION ALL SELECT id, name FROM canned_replies
  WHERE id = ANY(:object_ids::uuid[]) AND (:project IS NULL OR project_id = :project)
UNION ALL SELECT a.id, v.title AS name FROM articles a
  JOIN article_versions v ON v.article_id = a.id AND v.number = a.revision
  WHERE a.id = ANY(:object_ids::uuid[]) AND (:project IS NULL OR a.project_id = :project)
UNION ALL SELECT id, name FROM tags
  WHERE id = ANY(:object_ids::uuid[]) AND (:project IS NULL OR project_id = :project);

-- name: findReceived
-- A chat with an accepted message whose ticket has not been opened yet. An erased chat has no messages.
SELECT c.ticket_id AS id, p.name AS project_name, c.channel_id, c.chat_id, said.*
FROM chats c JOIN projects p ON p.id = c.project_id CROSS JOIN LATERAL (
  SELECT min(m.created_at) AS created_at, max(m.created_at) AS updated_at,
    (array_agg(m.user_id ORDER BY m.seq DESC) FILTER (WHERE m.user_id IS NOT NULL))[1] AS user_id,
    (array_agg(left(split_part(btrim(m.text, E' \t\r\n'), E'\n', 1), 120) ORDER BY m.seq))[1] AS subject,
    array_agg(m.channel_meta ORDER BY m.seq) AS metas
  FROM (
    SELECT created_at, user_id, seq, text, channel_meta FROM messages
    WHERE project_id = :project AND ticket_id = :ticket_id ORDER BY seq LIMIT {{maxCount}}
  ) m
) AS said
WHERE c.project_id = :project AND c.ticket_id = :ticket_id AND said.created_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM tickets t WHERE t.id = c.ticket_id);

-- name: findOpened
-- A ticket that a project works on.
SELECT {{recordColumns}} FROM tickets t {{recordJoins}} WHERE t.project_id = :project AND t.id = :ticket_id;

-- name: findDraft
-- A draft covers the messages that were unanswered when it was created; other waiting messages arrived later.
SELECT d.text, d.markdown, d.sources, d.confidence, d.why, d.covers, d.created_at, EXISTS (
  SELECT FROM messages m WHERE m.project_id = :home AND m.ticket_id = :ticket_id AND m.state IN ('received', 'held',
    'failed')
    AND m.id <> ALL (d.covers)
) AS is_stale
FROM drafts d WHERE d.project_id = :home AND d.ticket_id = :ticket_id;

-- name: read
-- Starts the transaction that reads a ticket with its contents in one snapshot, since decisions name the version that
-- was displayed. Otherwise a draft could be shown with the version of the previous one.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: update
-- Changes fields of a ticket, raises its version and records who did it, in one statement; if the fields have these
-- values, there is no new version and no event. The time of the last change remains, as with renamed tags: lists are
-- ordered by it, and nothing was said or decided. Locks the rows of tickets, ticket_events that it writes.
WITH before AS MATERIALIZED (
  SELECT id, (subject, priority, tags) IS DISTINCT FROM (coalesce(:subject, subject), coalesce(:priority, priority),
    coalesce(:tags::text[], tags)) AS is_changed
  FROM tickets WHERE project_id = :project AND id = :ticket_id AND (:versions::integer[] IS NULL
    OR version = ANY (:versions)) FOR NO KEY UPDATE
), t AS (
  UPDATE tickets SET subject = coalesce(:subject, subject), priority = coalesce(:priority, priority),
    tags = coalesce(:tags::text[], tags), version = version + before.is_changed::integer
  FROM before WHERE tickets.id = before.id RETURNING tickets.*
), event AS (
  INSERT INTO ticket_events (ticket_id, project_id, actor, data)
  SELECT t.id, t.home_project_id, :actor, :data::jsonb FROM t JOIN before USING (id) WHERE before.is_changed
)
SELECT {{recordColumns}} FROM t {{recordJoins}};

-- fragment: numbered
-- The newest rows of a ticket that fit into one response together, and at least the newest one; `bytes` is the size of
-- a row. With :before, only rows before that position. Only these rows leave the database: the length of a TOASTed text
-- is known without reading it. Use it with `within_limits`.
SELECT rows.*, sum(bytes) OVER newest_first AS total_bytes, row_number() OVER newest_first AS number,
  count(*) OVER () AS found

-- fragment: within_limits
AS rows WINDOW newest_first AS (ORDER BY place DESC)
) AS sized WHERE number <= {{maxCount}} AND (total_bytes <= {{maxBytes}} OR number = 1) ORDER BY place DESC

-- name: listMessages
-- The newest messages of a ticket, newest first.
SELECT * FROM (
  {{numbered}} FROM (
    SELECT seq AS place, id, seq, user_id, text, timestamp_ms, attachments, channel_meta, mode, state, attempts,
      failure,
      created_at, finished_at, octet_length(text) + octet_length(channel_meta::text) AS bytes FROM messages
    WHERE project_id = :home AND ticket_id = :ticket_id AND seq < coalesce(:before::bigint, 9223372036854775807)
    ORDER BY place DESC LIMIT {{maxRead}}
  ) {{within_limits}};

-- name: listReplies
-- The newest replies of a ticket, newest first.
SELECT * FROM (
  {{numbered}} FROM (
    SELECT seq AS place, id, seq, in_reply_to, author, author_id, type, text, markdown, sources, filename, mime,
      octet_length(content) AS size_bytes, created_at, delivered_at,
      coalesce(octet_length(text), 0) + coalesce(octet_length(sources::text), 0) AS bytes FROM replies
    WHERE project_id = :home AND ticket_id = :ticket_id AND seq < coalesce(:before::bigint, 9223372036854775807)
    ORDER BY place DESC LIMIT {{maxRead}}
  ) {{within_limits}};

-- name: listEvents
-- The newest events of a ticket, newest first.
SELECT * FROM (
  {{numbered}} FROM (
    SELECT id AS place, id, at, actor, message_id, moves, data,
      octet_length(moves::text) + octet_length(data::text) AS bytes FROM ticket_events
    WHERE project_id = :home AND ticket_id = :ticket_id AND id < coalesce(:before::bigint, 9223372036854775807)
    ORDER BY place DESC LIMIT {{maxRead}}
  ) {{within_limits}};

-- name: listProjects
-- The events with which a ticket moved between projects. Later events belong to the target project, until the next
-- move; events before the first move belong to the home project. A ticket that returned because its project was deleted
-- has no target id.
SELECT id, coalesce((data ->> 'projectId')::uuid, project_id) AS project_id FROM ticket_events
WHERE project_id = :home AND ticket_id = :ticket_id
  AND (data ? 'projectId' OR actor = 'service' AND data ->> 'decision' = 'reroute') ORDER BY id;

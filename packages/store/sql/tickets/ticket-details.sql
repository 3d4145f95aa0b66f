-- name: findReceived
-- A chat of which a message was accepted and no ticket opened yet. An erased chat has no messages.
SELECT c.ticket_id AS id, c.project_id, p.name AS project_name, c.channel_id, c.chat_id, said.*
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
-- A draft covers what was unanswered when it was made; a message that waits and is none of these came in since.
SELECT d.text, d.markdown, d.sources, d.confidence, d.why, d.covers, d.created_at, EXISTS (
  SELECT FROM messages m WHERE m.project_id = :home AND m.ticket_id = :ticket_id AND m.state IN ('received', 'held',
    'failed')
    AND m.id <> ALL (d.covers)
) AS is_stale
FROM drafts d WHERE d.project_id = :home AND d.ticket_id = :ticket_id;

-- name: read
-- What `find` finds, with what was said in it and done to it, all as of one moment: the process that decides about
-- what is shown
-- names the version that it is shown with. One snapshot for all that follows. Without it a draft could be shown with
-- the version of the one before.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: update
-- Changes fields of a ticket, raises its version and writes down who did it, in one statement. Locks the rows of
-- tickets, ticket_events that it writes.
WITH t AS (
  UPDATE tickets SET subject = coalesce(:subject, subject), priority = coalesce(:priority, priority),
    tags = coalesce(:tags::text[], tags), version = version + 1, updated_at = now()
  WHERE project_id = :project AND id = :ticket_id AND (:versions::integer[] IS NULL
    OR version = ANY (:versions)) RETURNING *
), event AS (
  INSERT INTO ticket_events (ticket_id, project_id, actor, data)
  SELECT id, home_project_id, :actor, :data::jsonb FROM t
)
SELECT {{recordColumns}} FROM t {{recordJoins}};

-- fragment: numbered
-- The newest rows of a ticket that are together no larger than one response may be, and the newest however large it is;
-- `bytes` is the size of a row. Only those before the place :before, if it is given. Only these leave the database: a
-- text that is stored outside its row is not even read to learn its length. To be used with `within_limits`.
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
    SELECT seq AS place, id, seq, in_reply_to, author, type, text, markdown, sources, filename, mime,
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
-- The events with which a ticket moved between projects. Every event after one of these is of that project, up to the
-- next one; before the first one, of the home. A ticket that comes back since its project was deleted names no id.
SELECT id, coalesce((data ->> 'projectId')::uuid, project_id) AS project_id FROM ticket_events
WHERE project_id = :home AND ticket_id = :ticket_id
  AND (data ? 'projectId' OR actor = 'service' AND data ->> 'decision' = 'reroute') ORDER BY id;

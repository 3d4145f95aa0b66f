-- name: confirm (prepared)
-- Marks replies in a range of sequence numbers as received by a browser of the visitor. Locks the replies' rows.
UPDATE replies r SET delivered_at = now()
FROM (SELECT * FROM unnest(:project_id::uuid[], :ticket_id::uuid[], :after::bigint[], :up_to::bigint[])
    AS i (project_id, ticket_id, after, up_to)
  ORDER BY ticket_id, up_to) i
WHERE r.ticket_id = i.ticket_id AND r.project_id = i.project_id AND r.seq > i.after AND r.seq <= i.up_to
  AND r.delivered_at IS NULL
RETURNING r.ticket_id, r.in_reply_to;

-- name: reserve (prepared)
-- The first call reserves the id; a repeated call finds it, with the sequence number of its message once that is
-- committed. The update makes a row that another call has just inserted visible, and protects it from the sweeper for
-- another day. Locks the rows of widget_messages that it writes.
WITH reserved AS (
  INSERT INTO widget_messages AS w (project_id, ticket_id, client_message_id, message_id) VALUES (:project,
    :ticket_id, :client_message_id, :message_id)
  ON CONFLICT (ticket_id, client_message_id) DO UPDATE SET created_at = now(), is_kept = false
  RETURNING message_id
)
SELECT r.message_id, m.seq FROM reserved r LEFT JOIN messages m ON m.id = r.message_id;

-- name: sweep
-- Deletes reservations whose message was not committed within a day. Locks the rows of widget_messages that it reads.
WITH old AS MATERIALIZED (
  SELECT w.ticket_id, w.client_message_id, EXISTS (SELECT 1 FROM messages m WHERE m.id = w.message_id) AS is_used
  FROM widget_messages w
  WHERE NOT w.is_kept AND w.created_at < now() - interval '{{widgetLimitsUnusedFileHours}} hours'
  ORDER BY w.created_at LIMIT {{sweepPage}} FOR UPDATE OF w SKIP LOCKED
), kept AS (
  UPDATE widget_messages w SET is_kept = true FROM old
  WHERE w.ticket_id = old.ticket_id AND w.client_message_id = old.client_message_id AND old.is_used
), gone AS (
  DELETE FROM widget_messages w USING old
  WHERE w.ticket_id = old.ticket_id AND w.client_message_id = old.client_message_id AND NOT old.is_used
)
SELECT count(*)::integer AS seen FROM old;

-- name: look (prepared)
-- The current state of chats, in one statement for all open sockets, with a few index look-ups per chat. Read-only.
SELECT i.place, c.last_seq, p.id AS message_id, u.text, v.score, w.public_name AS writer,
  CASE WHEN t.status = 'resolved' THEN 'done'
    WHEN t.stage IN ('review', 'failed') OR t.assignee IS NOT NULL THEN 'waiting' ELSE 'open' END AS state
FROM unnest(:project_id::uuid[], :ticket_id::uuid[]) WITH ORDINALITY AS i (project_id, ticket_id, place)
JOIN chats c ON c.ticket_id = i.ticket_id AND c.project_id = i.project_id
LEFT JOIN tickets t ON t.id = c.ticket_id
LEFT JOIN visitors v ON v.ticket_id = c.ticket_id
LEFT JOIN LATERAL (
  SELECT id FROM messages WHERE ticket_id = c.ticket_id AND state = 'received' ORDER BY seq LIMIT 1
) p ON true
LEFT JOIN unfinished_replies u ON u.message_id = p.id
LEFT JOIN LATERAL (
  SELECT o.public_name FROM operator_presence s JOIN operators o ON o.id = s.operator_id
  WHERE s.ticket_id = c.ticket_id AND s.is_typing AND s.seen_at > now() - interval '{{goneSeconds}} seconds' LIMIT 1
) w ON true;

-- name: read (prepared)
-- Messages and replies share the sequence numbers of their chat, and both tables have an index on them. Files without
-- their content.
(SELECT 'message' AS kind, m.id, m.seq, m.created_at, w.client_message_id, m.text,
   (SELECT jsonb_agg(jsonb_build_object('fileId', f.id, 'filename', f.filename, 'mime', f.mime,
      'sizeBytes', coalesce(f.object_bytes, octet_length(f.content))) || CASE WHEN f.expired_at IS NULL THEN '{}'::jsonb
      ELSE '{"expired":true}' END ORDER BY f.id) FROM widget_files f WHERE f.message_id = m.id) AS files,
   NULL AS author, NULL AS author_name, NULL AS author_picture, NULL::uuid AS in_reply_to, NULL AS type, NULL::boolean AS markdown, NULL::jsonb AS sources,
   NULL AS filename, NULL AS mime, NULL::integer AS size_bytes
 FROM messages m LEFT JOIN widget_messages w ON w.message_id = m.id
 WHERE m.ticket_id = :ticket_id AND m.project_id = :project AND m.seq > :seq ORDER BY m.seq LIMIT :limit)
UNION ALL
(SELECT 'reply', r.id, r.seq, r.created_at, NULL, r.text, NULL, r.author, coalesce(o.public_name, a.name, ''),
   coalesce(o.picture, ''), r.in_reply_to, r.type, r.markdown, r.sources, r.filename, r.mime, octet_length(r.content)
 FROM replies r LEFT JOIN operators o ON o.id = r.author_id LEFT JOIN agents a ON a.id = r.author_id
 WHERE r.ticket_id = :ticket_id AND r.project_id = :project AND r.seq > :seq ORDER BY r.seq LIMIT :limit)
ORDER BY seq LIMIT :limit;

-- name: listChats
-- The conversations of a visitor with these tickets: the last message, and whether it was seen. Read-only.
SELECT i.place, l.created_at, l.author, left(l.text, {{lastLineMaxChars}}) AS text, l.markdown, EXISTS (
    SELECT 1 FROM replies r WHERE r.ticket_id = c.ticket_id AND r.seq > coalesce(v.read_seq, 0)) AS is_unread
FROM unnest(:ticket_ids::uuid[]) WITH ORDINALITY AS i (ticket_id, place)
JOIN chats c ON c.ticket_id = i.ticket_id AND c.project_id = :project
LEFT JOIN visitors v ON v.ticket_id = c.ticket_id
CROSS JOIN LATERAL (
  (SELECT m.seq, m.created_at, 'visitor' AS author, coalesce(nullif(m.text, ''), (
      SELECT f.filename FROM widget_files f WHERE f.message_id = m.id ORDER BY f.id LIMIT 1), '') AS text,
      false AS markdown
   FROM messages m WHERE m.ticket_id = c.ticket_id AND m.project_id = :project ORDER BY m.seq DESC LIMIT 1)
  UNION ALL
  (SELECT r.seq, r.created_at, r.author, coalesce(r.text, r.filename, ''), coalesce(r.markdown, false)
   FROM replies r WHERE r.ticket_id = c.ticket_id AND r.project_id = :project ORDER BY r.seq DESC LIMIT 1)
  ORDER BY seq DESC LIMIT 1
) l
ORDER BY l.created_at DESC, i.place DESC;

-- name: readUpTo (prepared)
-- Only for an existing chat, never beyond its end and never backwards. Locks the visitor's row.
WITH chat AS (
  SELECT ticket_id, project_id, least(:seq, last_seq) AS seq FROM chats
  WHERE ticket_id = :ticket_id AND project_id = :project AND chat_id <> ''
)
INSERT INTO visitors AS v (ticket_id, project_id, read_seq) SELECT ticket_id, project_id, seq FROM chat
ON CONFLICT (ticket_id) DO UPDATE SET read_seq = excluded.read_seq, updated_at = now()
WHERE v.read_seq < excluded.read_seq;

-- name: rate
-- Repeating a rating has no effect and records no event. Returns whether the score differs from the one before, in the
-- snapshot of the statement. Locks the ticket's row against an erasure.
WITH ticket AS (
  SELECT id, home_project_id FROM tickets WHERE id = :ticket_id AND home_project_id = :project FOR KEY SHARE
), rated AS (
  INSERT INTO visitors AS v (ticket_id, project_id, score, comment, rated_at)
  SELECT id, home_project_id, :score::integer, :comment::text, now() FROM ticket
  ON CONFLICT (ticket_id) DO UPDATE SET score = excluded.score, comment = excluded.comment, rated_at = now(),
    updated_at = now()
  WHERE v.score IS DISTINCT FROM excluded.score OR v.comment IS DISTINCT FROM excluded.comment
  RETURNING ticket_id, project_id
), event AS (
  INSERT INTO ticket_events (ticket_id, project_id, actor, data, answer_step)
  SELECT ticket_id, project_id, 'visitor',
    jsonb_strip_nulls(jsonb_build_object('decision', 'rate', 'score', :score::integer, 'comment', :comment::text)),
    CASE WHEN :score::integer <= {{badRatingMaxScore}} THEN 'badRating' END
  FROM rated
)
SELECT v.score IS DISTINCT FROM :score::integer AS has_new_score FROM ticket t LEFT JOIN visitors v ON v.ticket_id = t.id;

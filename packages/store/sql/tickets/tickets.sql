-- fragment: ticket_columns
-- The columns of a ticket.
id, home_project_id AS home_project, project_id AS project, channel_id, chat_id, subject, status, stage, assignee,
agent_id, language, version

-- name: open (prepared)
-- Opens the ticket of a message or adds the message to an existing one: the newest meta wins, a resolved ticket is
-- reopened, and that of a blocked customer is spam (OFFSET 0: this is checked once). Version numbers of an erased ticket
-- continue. Fenced by the lease, so that a run which continues after its chat was erased restores nothing. Locks the
-- chats' rows against an erasure and then the tickets' rows, in the order of their ids. If a database crash undoes it,
-- its run cannot finish and is repeated.
INSERT INTO tickets AS t (id, home_project_id, project_id, channel_id, chat_id, user_id, subject, channel_meta,
  version, {{openingColumns}})
SELECT i.id, i.project_id, i.project_id, i.channel_id, i.chat_id, i.user_id, {{subject}}, i.channel_meta,
  c.ticket_version + 1, {{openingValues}}
FROM unnest(:id::uuid[], :project_id::uuid[], :channel_id::text[], :chat_id::text[], :user_id::text[],
  :text::text[], :channel_meta::jsonb[], :lease_id::uuid[])
  AS i (id, project_id, channel_id, chat_id, user_id, text, channel_meta, lease_id)
JOIN chats c ON c.ticket_id = i.id AND c.project_id = i.project_id AND c.lease_id = i.lease_id
CROSS JOIN LATERAL (SELECT {{isOfBlocked}} AS is_blocked OFFSET 0) b
ORDER BY i.id FOR KEY SHARE OF c
ON CONFLICT (id) DO UPDATE SET {{reopenAssignments}}
RETURNING {{ticket_columns}};

-- name: finish (prepared)
-- Commits the result of a run in one statement: the message's state, the ticket's stage and version, the replies with
-- their sequence numbers, the event, and the release of the lease. Fenced: a run whose lease was lost changes nothing,
-- nor does one whose ticket a database crash has undone. A ticket that would be done is in `failed` while one of its
-- messages is a dead letter, so that operators find it; the index of waiting messages shows that. The confidence of a
-- ticket is that of its draft, or of its last answer if none waits. The callback process is notified of changes. Locks
-- the chats' rows in the order of their ids, the callbacks' rows likewise, then rows that belong to the holder of the
-- lease alone.
WITH run AS (
  SELECT * FROM unnest(:project_id::uuid[], :ticket_id::uuid[], :message_id::uuid[], :lease_id::uuid[],
    :state::text[], :failure::text[], :stage::text[],
    :status::text[], :agent_id::uuid[], :confidence::real[], :language::text[], :moves::jsonb[], :trace::jsonb[],
      :reply_count::integer[], :is_first_reply::boolean[], :answer_step::text[])
    AS r (project_id, ticket_id, message_id, lease_id, state, failure, stage, status, agent_id, confidence,
      language, moves, trace, reply_count, is_first_reply, answer_step)
), mine AS MATERIALIZED (
  SELECT c.ticket_id, c.lease_id FROM chats c
  JOIN run r ON r.ticket_id = c.ticket_id AND r.project_id = c.project_id AND r.lease_id = c.lease_id
  LEFT JOIN tickets t ON t.id = r.ticket_id
  WHERE t.id IS NOT NULL OR r.state = 'failed'
  ORDER BY c.ticket_id FOR UPDATE OF c
), chat AS (
  UPDATE chats c SET lease_id = NULL, lease_until = NULL, last_seq = c.last_seq + r.reply_count
  FROM mine JOIN run r USING (ticket_id, lease_id) WHERE c.ticket_id = mine.ticket_id AND c.lease_id = mine.lease_id
  RETURNING c.ticket_id, c.project_id, c.channel_id, mine.lease_id, c.last_seq
), rest AS (
  SELECT r.lease_id, r.stage = 'done' AND (
    SELECT true FROM messages m
    WHERE m.project_id = r.project_id AND m.ticket_id = r.ticket_id AND m.state = 'failed' AND m.covered_by IS NULL
    LIMIT 1
  ) IS TRUE AS is_failed
  FROM run r JOIN chat USING (ticket_id, lease_id)
), message AS (
  UPDATE messages m SET state = r.state, failure = r.failure, progress = NULL, finished_at = now()
  FROM run r JOIN chat USING (ticket_id, lease_id) WHERE m.id = r.message_id AND m.state = 'received'
  RETURNING m.ticket_id, m.seq
), called AS MATERIALIZED (
  SELECT cb.message_id FROM callbacks cb JOIN run r USING (message_id) JOIN chat ON chat.lease_id = r.lease_id
  ORDER BY cb.message_id FOR UPDATE OF cb
), notified AS (
  UPDATE callbacks cb SET has_news = true, news_at = now() FROM called WHERE cb.message_id = called.message_id
), ticket AS (
  UPDATE tickets t SET stage = CASE WHEN rest.is_failed THEN 'failed' ELSE r.stage END, status = r.status,
    agent_id = coalesce(r.agent_id, t.agent_id),
    confidence = CASE WHEN t.stage = 'review' AND r.stage = 'review'
      THEN CASE r.state WHEN 'answered' THEN t.confidence ELSE least(r.confidence, t.confidence) END
      WHEN r.state = 'answered' THEN coalesce(r.confidence, t.confidence) ELSE r.confidence END,
    language = coalesce(r.language, t.language),
    version = t.version + 1, updated_at = now(),
    first_reply_at = CASE WHEN t.first_reply_at IS NULL AND r.is_first_reply THEN now() ELSE t.first_reply_at END
  FROM run r JOIN rest USING (lease_id) WHERE t.id = r.ticket_id
), event AS (
  INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, moves, data, answer_step, answer_confidence,
    answer_agent_id)
  SELECT r.ticket_id, r.project_id, r.message_id, 'pipeline',
    CASE WHEN rest.is_failed AND r.moves <> '[]'
      THEN jsonb_set(r.moves, '{-1}', (r.moves -> -1) || '{{stillFailed}}') ELSE r.moves END, r.trace, r.answer_step,
        CASE WHEN r.answer_step IS NOT NULL THEN coalesce(r.confidence, 0) END,
    CASE WHEN r.answer_step IS NOT NULL THEN r.agent_id END
  FROM run r JOIN rest USING (lease_id)
), reply AS (
  INSERT INTO replies (id, project_id, ticket_id, seq, in_reply_to, author, author_id, type, text, markdown, sources,
    filename, mime, content)
  SELECT i.id, r.project_id, r.ticket_id, chat.last_seq - r.reply_count + i.place, r.message_id, i.author,
    CASE WHEN i.author = 'agent' THEN r.agent_id END, i.type, i.text, i.markdown, i.sources, i.filename, i.mime, i.content
  FROM unnest(:id::uuid[], :lease_id2::uuid[], :place::integer[], :author::text[], :type::text[], :text::text[],
    :markdown::boolean[],
    :sources::jsonb[], :filename::text[], :mime::text[], :content::bytea[])
    AS i (id, lease_id, place, author, type, text, markdown, sources, filename, mime, content)
  JOIN run r USING (lease_id) JOIN chat USING (lease_id)
), outbox AS (
  INSERT INTO outboxes (ticket_id, project_id, channel_id, wanted_seq)
  SELECT chat.ticket_id, chat.project_id, chat.channel_id, chat.last_seq FROM chat JOIN run r USING (lease_id)
  WHERE r.reply_count > 0 AND chat.channel_id = ANY ('{{{list}}}')
  ON CONFLICT (ticket_id) DO UPDATE SET wanted_seq = excluded.wanted_seq
)
SELECT chat.lease_id, chat.last_seq, message.seq, now() AS finished_at FROM chat JOIN message USING (ticket_id);

-- name: find
-- A ticket that came in to this project, or null.
SELECT {{ticket_columns}} FROM tickets WHERE home_project_id = :project AND id = :ticket_id;

-- name: listMoves
-- All moves of a ticket in chronological order.
SELECT moves FROM ticket_events WHERE project_id = :project AND ticket_id = :ticket_id ORDER BY id;

-- name: findDraft
-- The draft of a ticket, if any: the result of a run is merged into it, since one reply answers all waiting messages.
SELECT text, markdown, sources, confidence, why FROM drafts
WHERE project_id = :project AND ticket_id = :ticket_id;

-- name: insertDraft
-- Inserts the draft of a ticket that has none. Locks the draft.
INSERT INTO drafts (ticket_id, project_id, text, markdown, sources, confidence, why, covers)
VALUES (:ticket_id, :project, :text, :markdown, :sources, :confidence, :why, ARRAY[:message_id::uuid])
ON CONFLICT (ticket_id) DO NOTHING;

-- name: replaceDraft
-- Replaces the draft of a ticket with one that also covers another message. Locks the draft.
UPDATE drafts SET text = :text, markdown = :markdown, sources = :sources, confidence = :confidence, why = :why,
  covers = array_remove(covers, :message_id::uuid) || :message_id::uuid, created_at = now()
WHERE project_id = :project AND ticket_id = :ticket_id;

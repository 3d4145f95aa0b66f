-- fragment: columns
g.id, g.question, g.language, g.agent_id, g.count, g.status, g.kb_id, g.document_id, g.created_at,
g.last_at, g.version, coalesce(a.kb_ids, '{}') AS kb_ids

-- fragment: examples_of
-- By the index on a gap's examples, newest first; those without a text are older.
(SELECT coalesce(jsonb_agg(jsonb_build_object('text', e.text, 'ticketId', e.ticket_id, 'at', e.at)
  ORDER BY e.at DESC, e.message_id DESC), '[]'::jsonb)
FROM (SELECT message_id, text, ticket_id, at FROM gap_examples
  WHERE gap_id = g.id AND project_id = g.project_id AND text IS NOT NULL
  ORDER BY at DESC, message_id DESC LIMIT {{examples}}) e) AS examples

-- fragment: with_agent
gaps g LEFT JOIN agents a ON a.id = g.agent_id AND a.project_id = g.project_id

-- name: find
-- A gap with its examples.
SELECT {{columns}}, {{examples_of}} FROM {{with_agent}} WHERE g.project_id = :project AND g.id = :id;

-- name: findSame
-- The gap with an equivalent question, if any. Uses the index on terms: reads only gaps that share a word with the
-- question.
SELECT g.id, g.terms FROM (
  SELECT gap_id, count(*) AS shared FROM gap_terms WHERE project_id = :project AND term = ANY (:terms::text[])
  GROUP BY gap_id ORDER BY shared DESC, gap_id LIMIT {{maxCompared}}
) t JOIN gaps g ON g.id = t.gap_id AND g.project_id = :project ORDER BY t.shared DESC, g.id;

-- name: insertGap
-- Inserts a gap with its first question. Locks the rows of gaps that it writes.
INSERT INTO gaps (id, project_id, question, question_message_id, language, terms, agent_id)
VALUES (:id, :project, :question, :message_id, :language, :terms, :agent_id);

-- name: lockRecording
-- Locks the gaps of a project before a message without a good answer is recorded, with an equivalent gap or as a new
-- one: two concurrent transactions would each create a gap for the same question.
SELECT pg_advisory_xact_lock(:record_lock, hashtext(:project))::text AS locked, EXISTS (SELECT FROM webhooks w
  WHERE w.project_id = :project::uuid AND w.active_since IS NOT NULL AND 'gap.found' = ANY (w.events)) AS has_webhooks;

-- name: lockChat
-- Locks the chat of a conversation, so that nothing is recorded for an erased one: it cannot be erased until the
-- commit.
SELECT 1 FROM chats WHERE ticket_id = :ticket_id FOR KEY SHARE;

-- name: findMessage
-- Returns a row if a message still exists.
SELECT 1 FROM messages WHERE id = :message_id;

-- name: findExample
-- Returns a row if a message was already counted, so that a retry does not count it twice.
SELECT 1 FROM gap_examples WHERE message_id = :message_id;

-- name: insertExample
-- Stores the question of a message as an example of a gap. Locks the rows of gap_examples that it writes.
INSERT INTO gap_examples (message_id, project_id, gap_id, ticket_id, text, terms)
VALUES (:message_id, :project, :id, :ticket_id, :text, :terms);

-- name: countQuestion
-- The version is unchanged: a decision on a gap depends on its question, not on its count. Locks the rows of gaps that
-- it writes.
UPDATE gaps g SET count = g.count + 1, last_at = now(), agent_id = coalesce(:agent_id, g.agent_id),
  status = CASE WHEN g.status = 'answered' THEN 'open' ELSE g.status END,
  version = g.version + CASE WHEN g.status = 'answered' THEN 1 ELSE 0 END
FROM (SELECT id, status FROM gaps WHERE project_id = :project AND id = :id FOR UPDATE) was
WHERE g.id = was.id RETURNING was.status = 'answered' AS is_reopened;

-- name: deleteOldTexts
-- Deletes the texts of examples beyond those that are shown. Locks the rows of gap_examples that it writes.
UPDATE gap_examples SET text = NULL, terms = NULL WHERE message_id IN (
SELECT message_id FROM gap_examples WHERE gap_id = :id AND project_id = :project AND text IS NOT NULL
ORDER BY at DESC, message_id DESC OFFSET {{examples}});

-- name: update
-- Changes the status, and records the article, if `versions` contains the current version or is null. Locks the rows of
-- gaps that it writes.
UPDATE gaps SET status = :status, kb_id = coalesce(:kb_id, kb_id), document_id = coalesce(:document_id, document_id),
  version = version + 1
WHERE project_id = :project AND id = :id AND (:versions::integer[] IS NULL OR version = ANY (:versions)) RETURNING id;

-- name: lockGapsOfTickets
-- Locks the gaps of a project from which the questions of these tickets are removed: their examples, gap questions in
-- their words (another example replaces them), and gaps without any other example. Locks the rows of gap_examples that
-- it reads.
SELECT id FROM gaps WHERE project_id = :project AND id IN (
  SELECT gap_id FROM gap_examples WHERE project_id = :project AND ticket_id = ANY (:ticket_ids::uuid[])
) ORDER BY id FOR UPDATE;

-- name: deleteExamples
-- Deletes the examples that came from these tickets. Locks the rows of gap_examples that it writes.
DELETE FROM gap_examples WHERE project_id = :project AND ticket_id = ANY (:ticket_ids::uuid[]) RETURNING gap_id,
  message_id;

-- name: deleteEmptyGaps
-- Without an example that has a text, nothing that another customer has written is left. Locks the rows of gaps that it
-- writes.
DELETE FROM gaps g WHERE g.project_id = :project AND g.id = ANY (:gap_ids::uuid[]) AND NOT EXISTS (
SELECT 1 FROM gap_examples e WHERE e.gap_id = g.id AND e.text IS NOT NULL);

-- name: recount
-- Counts the examples of gaps again. Locks the rows of gaps that it writes.
UPDATE gaps g SET count = (SELECT count(*) FROM gap_examples e WHERE e.gap_id = g.id),
  last_at = (SELECT max(e.at) FROM gap_examples e WHERE e.gap_id = g.id)
WHERE g.project_id = :project AND g.id = ANY (:gap_ids::uuid[]);

-- name: replaceQuestion
-- Gives gaps whose question was erased the question of their newest example. Locks the rows of gaps that it writes.
UPDATE gaps g SET question = e.text, terms = e.terms, question_message_id = e.message_id, version = g.version + 1
FROM (SELECT DISTINCT ON (gap_id) gap_id, message_id, text, terms FROM gap_examples
  WHERE project_id = :project AND gap_id = ANY (:gap_ids::uuid[]) AND text IS NOT NULL
  ORDER BY gap_id, at, message_id) e
WHERE g.id = e.gap_id AND g.project_id = :project AND g.question_message_id = ANY (:question_message_id::uuid[])
RETURNING g.id;

-- name: deleteTerms
-- Deletes the index of the terms of gaps. Locks the rows of gap_terms that it writes.
DELETE FROM gap_terms WHERE project_id = :project AND gap_id = ANY (:ids::uuid[]);

-- name: indexTerms
-- Makes the index of the terms of these gaps, which have none in it yet. Locks the rows of gap_terms that it writes.
INSERT INTO gap_terms (project_id, term, gap_id)
SELECT DISTINCT g.project_id, t.term, g.id FROM gaps g CROSS JOIN unnest(g.terms) AS t (term)
WHERE g.project_id = :project AND g.id = ANY (:gap_ids::uuid[]);

-- fragment: of_page
g.project_id = :project AND (:status::text IS NULL OR g.status = :status)
  AND (:q::text IS NULL OR strpos(lower(g.question), lower(:q)) > 0)

-- name: listByCount
-- A page of gaps, the most asked first. Goes along the index on count.
SELECT {{columns}}, g.count AS value, {{examples_of}} FROM {{with_agent}}
WHERE {{of_page}} AND (:id::uuid IS NULL OR (g.count, g.id) < (:value::bigint, :id))
ORDER BY g.count DESC, g.id DESC LIMIT :limit;

-- name: listByTime
-- A page of gaps, the newest first. Goes along the index on last_at; the value is that time in microseconds.
SELECT {{columns}}, (extract(epoch FROM g.last_at) * 1000000)::bigint AS value, {{examples_of}} FROM {{with_agent}}
WHERE {{of_page}} AND (:id::uuid IS NULL
  OR (g.last_at, g.id) < (timestamptz 'epoch' + :value::bigint * interval '1 microsecond', :id))
ORDER BY g.last_at DESC, g.id DESC LIMIT :limit;

-- fragment: columns
id, kb_id, document_id, ticket_id, action, title, question, before, after, base_hash, status, reason,
created_at, created_by, decided_at, decided_by, result_document_id, version

-- name: find
-- A proposal by its id.
SELECT {{columns}} FROM proposals WHERE project_id = :project AND id = :id;

-- name: lock
-- Locks a proposal before a decision.
SELECT {{columns}} FROM proposals WHERE project_id = :project AND id = :id FOR UPDATE;

-- name: mark
-- Records a decision on a proposal. Locks the rows of proposals that it writes.
UPDATE proposals SET status = :status, decided_by = :by, decided_at = now(), reason = :reason,
  action = coalesce(:action, action), result_document_id = :result_document_id, version = version + 1
WHERE project_id = :project AND id = :id RETURNING {{columns}};

-- name: insert
-- Stores a proposal for a decision by an operator. The chat is locked against an erasure, and an erased one has no
-- chat_id.
WITH chat AS MATERIALIZED (SELECT chat_id FROM chats WHERE ticket_id = :ticket_id::uuid FOR KEY SHARE)
INSERT INTO proposals (id, project_id, kb_id, document_id, ticket_id, action, title, question, before, after,
  base_hash, created_by)
SELECT :id::uuid, :project::uuid, :kb_id::uuid, :document_id::uuid, :ticket_id::uuid, :action, :title, :question,
  :before, :after, :base_hash::bytea, :created_by
WHERE NOT EXISTS (SELECT 1 FROM chat WHERE chat_id = '') RETURNING {{columns}};

-- name: listPage
-- Proposals, newest first: those created before the one with id `before`, with `q` in title or text, of one status and
-- for one knowledge base.
SELECT {{columns}} FROM proposals
WHERE project_id = :project AND (:before::uuid IS NULL OR id < :before)
  AND (:q::text IS NULL OR strpos(lower(title), lower(:q)) > 0 OR strpos(lower(after), lower(:q)) > 0)
  AND (:q::text IS NULL OR :searches_questions OR question IS NULL OR status = 'accepted')
  AND (:status::text IS NULL OR status = :status) AND (:kb_id::uuid IS NULL OR kb_id = :kb_id)
ORDER BY id DESC LIMIT :limit;

-- name: findTarget
-- A document that can be found and may be changed, or null.
SELECT d.id, d.kb_id, d.key, d.title, d.url, d.mime, d.content_hash, d.chunk_count,
  CASE WHEN d.source_content_hash = d.content_hash THEN d.source_mime END AS source_mime
FROM documents d JOIN kbs k ON k.id = d.kb_id AND k.project_id = :project AND k.deleted_at IS NULL
WHERE d.project_id = :project AND d.id = :document_id AND d.status = 'ready';

-- name: findOperatorAnswer
-- The last text that a person sent in a conversation that this project works on, or null. Replies belong to the project
-- where the chat came in, whose index on sequence numbers is used.
SELECT r.text, r.sources, t.agent_id, (
  SELECT m.text FROM messages m WHERE m.ticket_id = t.id AND m.project_id = t.home_project_id AND m.seq < r.seq
  ORDER BY m.seq DESC LIMIT 1) AS question
FROM tickets t JOIN replies r ON r.ticket_id = t.id AND r.project_id = t.home_project_id
WHERE t.project_id = :project AND t.id = :ticket_id AND r.author = 'operator' AND r.type = 'message'
  AND r.text IS NOT NULL
ORDER BY r.seq DESC LIMIT 1;

-- name: findQuestion
-- The last question of a conversation that this project works on, and its agent.
SELECT t.agent_id, (SELECT m.text FROM messages m WHERE m.ticket_id = t.id
  AND m.project_id = t.home_project_id ORDER BY m.seq DESC LIMIT 1) AS question
FROM tickets t WHERE t.project_id = :project AND t.id = :ticket_id;

-- name: accept
-- Accepts a proposal and puts its document in one transaction, so that a search finds the new text or the proposal is
-- still open. As in `put`, changes of documents of one knowledge base are serialized, and the base is locked before its
-- documents. Locks the rows of kbs that it reads.
SELECT id FROM kbs WHERE project_id = :project AND id = :kb_id AND deleted_at IS NULL FOR NO KEY UPDATE;

-- name: lockDocument
-- Locks the document that a proposal replaces, if it is unchanged and no newer version is queued.
SELECT id FROM documents d WHERE d.project_id = :project AND d.kb_id = :kb_id AND d.id = :id
  AND d.content_hash = :content_hash
  AND d.status = 'ready' AND NOT EXISTS (SELECT 1 FROM ingests i WHERE i.document_id = d.id)
FOR UPDATE;

-- name: markAsSource
-- Marks the content of a document as that of its source, so that the next import does not replace it. Locks the rows of
-- documents that it writes.
UPDATE documents SET source_content_hash = content_hash
WHERE project_id = :project AND id = :id AND source_content_hash = :content_hash;

-- name: addDraft
-- Keeps what a run has found for a message: with the draft that is there already it makes one draft for all messages
-- that wait, since one reply answers them all.
SELECT text, markdown, sources, coalesce(confidence, 0) AS confidence, why FROM drafts
WHERE project_id = :project AND ticket_id = :ticket_id;

-- name: insert
-- Inserts the draft of a ticket that has none. Locks the draft.
INSERT INTO drafts (ticket_id, project_id, text, markdown, sources, confidence, why, covers)
VALUES (:ticket_id, :project, :text, :markdown, :sources, :confidence, :why, ARRAY[:message_id::uuid])
ON CONFLICT (ticket_id) DO NOTHING;

-- name: replace
-- Replaces the draft of a ticket by one that covers another message too. Locks the draft.
UPDATE drafts SET text = :text, markdown = :markdown, sources = :sources, confidence = :confidence, why = :why,
  covers = array_remove(covers, :message_id::uuid) || :message_id::uuid, created_at = now()
WHERE project_id = :project AND ticket_id = :ticket_id;

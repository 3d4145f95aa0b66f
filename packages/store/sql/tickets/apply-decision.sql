-- name: reject
-- Rejects messages that wait for an operator. Locks the rows of messages that it writes.
UPDATE messages SET state = 'rejected', finished_at = now()
WHERE project_id = :home_project AND id = ANY (:message_ids::uuid[]) AND state IN ('held', 'failed');

-- name: insertReview
-- Records what the pipeline has to do. Locks the rows of reviews that it writes.
INSERT INTO reviews (id, project_id, ticket_id, kind, actor, author, text, markdown, sources, answers_message_id,
  covers, file_ids, resolves, due_at)
VALUES (:review_id, :home_project, :id, :kind, :actor, :author, :text, :markdown, :sources, :answers, :covers,
  :file_ids, :resolves, now() + interval '{{sweepAfterMs}} milliseconds');

-- name: coverMessages
-- Records which message's reply also answers these messages. Locks the rows of messages that it writes.
UPDATE messages SET covered_by = :answers
WHERE project_id = :home_project AND id = ANY (:covers::uuid[]) AND state IN ('held', 'failed');

-- name: claimLease
-- Ends the lease of the worker that has the conversation, unless an earlier decision is being carried out, since the
-- worker's results are from before the decision. Locks the rows of chats that it writes.
UPDATE chats SET lease_id = NULL, lease_until = NULL WHERE project_id = :home_project AND ticket_id = :id;

-- name: uncountAttempt
-- Does not count the attempt that a decision interrupts. Locks the rows of messages that it writes.
UPDATE messages SET progress = NULL, attempts = greatest(0, attempts - :uncounted::integer)
WHERE id = (SELECT id FROM messages WHERE project_id = :home_project AND ticket_id = :id AND state = 'received'
  ORDER BY seq LIMIT 1);

-- name: readText
-- The text from which triage learns: that of the newest waiting message, or else of the newest one.
SELECT text FROM messages WHERE project_id = :home_project AND id = :id;

-- name: setReview
-- Assigns a decision to its chat. Locks the rows of chats that it writes.
UPDATE chats SET review_id = :review_id WHERE project_id = :home_project AND ticket_id = :id;

-- name: deleteDraft
-- Deletes the draft of a ticket. Locks the rows of drafts that it writes.
DELETE FROM drafts WHERE project_id = :home_project AND ticket_id = :id;

-- name: writeTicket
-- Applies a decision to a ticket, and returns the ticket for display. Locks the rows of tickets that it writes.
WITH t AS (
  UPDATE tickets SET project_id = :project2, status = :status, stage = :stage, assignee = :assignee,
    agent_id = :agent_id, priority = coalesce(:priority::text, priority),
    tags = tags || ARRAY(
      SELECT tag FROM unnest(:add_tags::text[]) WITH ORDINALITY AS added (tag, place) WHERE tag <> ALL (tags)
      ORDER BY place
    ),
    resolved_at = CASE WHEN :status NOT IN ('resolved', 'spam') THEN NULL WHEN status = :status THEN resolved_at
      ELSE now() END,
    is_blocked = :status = 'spam' AND EXISTS (
      SELECT FROM ticket_customers k JOIN customers b ON b.id = k.customer_id
      WHERE k.ticket_id = tickets.id AND b.is_blocked),
    snoozed_until = CASE WHEN :is_snooze_kept::boolean THEN snoozed_until ELSE :snoozed_until::timestamptz END,
    version = version + 1, updated_at = now()
  WHERE project_id = :project AND id = :id RETURNING *
)
SELECT {{recordColumns}} FROM t {{recordJoins}};

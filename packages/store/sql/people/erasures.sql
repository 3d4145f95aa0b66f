-- fragment: loose_bodies
-- SQL for a body `x` of the project that contains the user, the chat, or the chat of one of the conversations, and
-- belongs to none of them: usually a body without a message. Hooks write to chats of the API channel.
x.project_id = :project AND (x.ticket_id IS NULL OR x.ticket_id <> ALL (:ticket_ids::uuid[])) AND x.id IN (
  SELECT b.id FROM hook_bodies b WHERE b.project_id = :project AND b.user_id = ANY (:user_ids::text[])
  UNION ALL SELECT b.id FROM hook_bodies b WHERE b.project_id = :project AND b.chat_id = :chat_id
  UNION ALL SELECT b.id FROM chats c JOIN hook_bodies b ON b.project_id = c.project_id AND b.chat_id = c.chat_id
    WHERE c.project_id = :project AND c.ticket_id = ANY (:ticket_ids::uuid[]) AND c.channel_id = 'api'
      AND c.chat_id <> ''
)

-- fragment: loose_updates
-- SQL for a stored update `x` of a channel that the user sent or that came in the chat, and that belongs to none of the
-- conversations: it has no message, so its conversation may not exist.
x.project_id = :project AND x.state IN ('waiting', 'dead')
  AND (x.user_id = ANY (:user_ids::text[]) OR x.chat_id = :updates_chat_id) AND x.ticket_id <> ALL (:ticket_ids::uuid[])

-- fragment: is_idle
-- SQL that is true when nothing has happened in the chat `c` for `:retention_days` days and nothing waits in it: no
-- message, no reply, no change of its ticket. Anything that waits for the pipeline, a person or a receiver of callbacks
-- is never erased.
(
  NOT EXISTS (SELECT 1 FROM messages m WHERE m.ticket_id = c.ticket_id
    AND (m.state IN ('received', 'held', 'failed') OR m.created_at >= now() - make_interval(days => :retention_days)))
  AND NOT EXISTS (SELECT 1 FROM replies r WHERE r.ticket_id = c.ticket_id
    AND r.created_at >= now() - make_interval(days => :retention_days))
  AND NOT EXISTS (SELECT 1 FROM tickets t WHERE t.id = c.ticket_id
    AND (t.stage IN ('review', 'failed') OR t.updated_at >= now() - make_interval(days => :retention_days)))
  AND NOT EXISTS (SELECT 1 FROM reviews v WHERE v.ticket_id = c.ticket_id AND v.finished_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM callbacks k WHERE k.ticket_id = c.ticket_id AND k.has_news)
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.ticket_id = c.ticket_id AND d.state = 'pending')
)

-- fragment: author
-- The author of a message, in the form of the index.
coalesce(m.user_id, m.channel_meta ->> 'userId')

-- fragment: purge_every
-- Interval of the retention check of a project.
interval '1 hour'

-- fragment: removal_settles
-- A request that was authorized before its project was deleted may still write. Deleted projects are checked for this
-- time, at the interval below.
interval '10 minutes'

-- fragment: removal_looks_again
interval '20 seconds'

-- name: listMessages
-- The messages of a conversation.
SELECT id FROM messages WHERE ticket_id = :ticket_id;

-- name: lockPendingDeliveries
-- Locks the pending deliveries of a conversation before it is erased.
SELECT id FROM deliveries WHERE ticket_id = :ticket_id AND state = 'pending' ORDER BY id FOR UPDATE;

-- name: lockChat
-- Locks the chat of a conversation, so that no other process can work on it or add to it. A worker loses its lease.
SELECT 1 FROM chats WHERE project_id = :project AND ticket_id = :ticket_id FOR UPDATE;

-- name: lockTicket
-- Waits for a concurrent change of the ticket and includes it. Locks the rows of tickets that it reads.
SELECT version FROM tickets WHERE id = :ticket_id FOR UPDATE;

-- name: findIdle
-- Returns a row if a chat is idle.
SELECT 1 FROM chats c WHERE c.ticket_id = :ticket_id AND {{is_idle}};

-- name: listLearners
-- The projects whose triage has learned from a conversation.
SELECT project_id FROM tickets WHERE id = :ticket_id AND status = 'resolved'
UNION SELECT project_id FROM triage_messages WHERE ticket_id = :ticket_id ORDER BY project_id;

-- name: lockDeliveries
-- Locks the deliveries of messages, and of events of their ticket, in the order of their ids.
SELECT id FROM deliveries WHERE message_id = ANY (:messages::uuid[]) OR subject_id = :ticket_id ORDER BY id FOR UPDATE;

-- name: deleteOutbox
-- Deletes the outbox of a conversation. Locks the rows of outboxes that it writes.
DELETE FROM outboxes WHERE ticket_id = :ticket_id;

-- name: emptyChat
-- Empties a chat that keeps its sequence numbers. Locks the rows of chats that it writes.
UPDATE chats SET chat_id = '', lease_id = NULL, lease_until = NULL, review_id = NULL,
  ticket_version = coalesce(:ticket_version, ticket_version)
WHERE ticket_id = :ticket_id;

-- name: deleteChat
-- Deletes a chat. Locks the rows of chats that it writes.
DELETE FROM chats WHERE ticket_id = :ticket_id;

-- name: countErasure
-- Counts an erasure in projects, so that what they have learned is reloaded. Locks the rows of projects that it writes.
UPDATE projects SET erasures = erasures + 1 WHERE id = ANY (:id::uuid[]);

-- name: listAskedProjects
-- The projects whose gaps have recorded questions of the conversation.
SELECT DISTINCT project_id FROM gap_examples WHERE ticket_id = :ticket_id ORDER BY project_id;

-- name: readMessageIds
-- Ids of a conversation's messages by sequence number, in batches.
SELECT id, seq FROM messages WHERE ticket_id = :ticket_id AND seq > :after ORDER BY seq LIMIT {{messageSlice}};

-- name: purgeBodies
-- Deletes old hook bodies, with or without a message: those without one belong to no conversation. Locks the rows of
-- hook_bodies that it writes.
DELETE FROM hook_bodies b USING hooks h
WHERE h.project_id = :project AND b.hook_id = h.id AND b.received_at < now() - make_interval(days => :retention_days);

-- name: purgeUpdates
-- Deletes old dead updates of a channel, which may belong to no conversation. Locks the rows of messenger_updates that
-- it writes.
DELETE FROM messenger_updates
WHERE project_id = :project AND state = 'dead' AND received_at < now() - make_interval(days => :retention_days);

-- name: purgeModelCalls
-- Deletes old model calls that belong to no conversation. Locks the rows of model_calls that it writes.
DELETE FROM model_calls
WHERE project_id = :project AND ticket_id IS NULL AND at < now() - make_interval(days => :retention_days);

-- name: purgeViews
-- Deletes saved views that filter by a user who has no tickets. Locks the rows of operator_views that it writes.
DELETE FROM operator_views v WHERE v.project_id = :project AND v.filters ? 'userId' AND NOT EXISTS (
SELECT 1 FROM messages m WHERE m.project_id = :project AND {{author}} = v.filters ->> 'userId'
  AND hashtextextended({{author}}, 0) = hashtextextended(v.filters ->> 'userId', 0));

-- name: findTicketsOfUser
-- The conversations that came in to this project and to which this user wrote, by the sender's user id.
SELECT DISTINCT m.ticket_id FROM messages m
WHERE hashtextextended({{author}}, 0) = hashtextextended(:user_id, 0) AND {{author}} = :user_id
  AND m.project_id = :project
ORDER BY m.ticket_id;

-- name: findTickets
-- Of these conversations, those that came in to this project.
SELECT ticket_id FROM chats WHERE project_id = :project AND ticket_id = ANY (:ticket_ids::uuid[]) ORDER BY ticket_id;

-- name: findChat
-- Returns a row if the project has this conversation.
SELECT 1 FROM chats WHERE project_id = :project AND ticket_id = :ticket_id;

-- name: findLooseBodies
-- The hook bodies that belong to none of the conversations but contain the user or the chat, as `read` shows them.
SELECT x.id FROM hook_bodies x WHERE {{loose_bodies}};

-- name: findLooseUpdates
-- Updates of a channel that belong to none of the conversations.
SELECT x.message_id FROM messenger_updates x WHERE {{loose_updates}};

-- name: findCustomers
-- The customers of conversations and of users.
SELECT k.customer_id FROM ticket_customers k JOIN customers c ON c.id = k.customer_id
WHERE k.ticket_id = ANY (:ticket_ids::uuid[]) AND c.project_id = :project
UNION
SELECT customer_id FROM customer_identities
WHERE project_id = :project AND kind IN ('user', 'telegram') AND value = ANY (:user_ids::text[]);

-- name: deleteCustomers
-- Deletes customers. Their other conversations are indexed again, and get new customers from their content. Locks the
-- rows of customers and ticket_text_queue that it writes.
WITH others AS (
  INSERT INTO ticket_text_queue (ticket_id) SELECT k.ticket_id FROM ticket_customers k
  WHERE k.customer_id = ANY (:ids::uuid[]) AND k.ticket_id <> ALL (:ticket_ids::uuid[])
  ON CONFLICT (ticket_id) DO UPDATE SET queued_at = now()
)
DELETE FROM customers WHERE project_id = :project AND id = ANY (:ids::uuid[]);

-- name: listCustomerTickets
-- The conversations of a customer that came in to this project.
SELECT k.ticket_id FROM ticket_customers k JOIN customers c ON c.id = k.customer_id
WHERE c.project_id = :project AND c.id = :id ORDER BY k.ticket_id;

-- name: deleteLooseBodies
-- Deletes the bodies that `readLoose` reads, so that they cannot be retried. Locks the rows of hook_bodies that it
-- writes.
DELETE FROM hook_bodies x WHERE {{loose_bodies}} RETURNING 1;

-- name: deleteLooseUpdates
-- Deletes updates of a channel that belong to none of the conversations. Locks the rows of messenger_updates that
-- it writes.
DELETE FROM messenger_updates x WHERE {{loose_updates}} RETURNING 1;

-- name: deleteViewsOfUser
-- Deletes saved views that filter by this user, including those of all projects. Locks the rows of operator_views that
-- it writes.
DELETE FROM operator_views WHERE (project_id = :project OR project_id IS NULL) AND filters ->> 'userId' = ANY (:user_ids::text[]);

-- name: claimDuePurge
-- Claims the next project for the retention check. Locks the rows of projects that it reads.
UPDATE projects SET purge_at = now() + {{purge_every}}
WHERE id = (
  SELECT id FROM projects WHERE retention_days IS NOT NULL AND deleted_at IS NULL AND purge_at <= now()
  ORDER BY purge_at LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING id, name, retention_days;

-- name: listChats
-- Lists some of a project's chats, after `after`, and whether each has been idle for the retention period.
SELECT c.ticket_id, c.chat_id <> '' AND {{is_idle}} AS is_idle FROM (
  SELECT ticket_id, chat_id FROM chats WHERE project_id = :project AND (:after::uuid IS NULL OR ticket_id > :after)
  ORDER BY ticket_id LIMIT {{purgePage}}
) c ORDER BY c.ticket_id;

-- name: takeDeletedProject
-- Claims a deleted project whose data is removed. One process at a time, since rows that another process is deleting
-- would look like the end of a step. Locks the rows of projects that it reads.
SELECT id, deleted_at < now() - {{removal_settles}} AS is_settled FROM projects
WHERE deleted_at IS NOT NULL AND purge_at <= now() ORDER BY purge_at LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: listChatsOfDeleted
-- Some chats of a deleted project.
SELECT ticket_id FROM chats WHERE project_id = :project ORDER BY ticket_id LIMIT {{removalTickets}};

-- name: deleteKbs
-- Knowledge bases are removed by `kbs.purge`; this deletes those that a late request has created. Locks the rows of kbs
-- that it writes.
UPDATE kbs SET deleted_at = now() WHERE project_id = :project AND deleted_at IS NULL;

-- name: deleteProject
-- Deletes a project without remaining data. Locks the rows of projects that it writes.
DELETE FROM projects p WHERE p.id = :project AND :is_settled AND NOT EXISTS (SELECT 1 FROM kbs k
  WHERE k.project_id = p.id)
RETURNING 1;

-- name: deleteStoredBytes
-- Deletes the storage totals of a project. Locks the rows of stored_bytes that it writes.
DELETE FROM stored_bytes WHERE project_id = :project;

-- name: repeatLater
-- Schedules another check of a deleted project. Locks the rows of projects that it writes.
UPDATE projects SET purge_at = now() + {{removal_looks_again}} WHERE id = :project;

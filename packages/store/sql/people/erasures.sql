-- fragment: loose_bodies
-- A body `x` of the project that names the user, the chat, or the chat of one of the conversations, and belongs to
-- none of these conversations: usually no message was made of it. Hooks write in chats of the API channel.
x.project_id = :project AND (x.ticket_id IS NULL OR x.ticket_id <> ALL (:ticket_ids::uuid[])) AND x.id IN (
  SELECT b.id FROM hook_bodies b WHERE b.project_id = :project AND b.user_id = ANY (:user_ids::text[])
  UNION ALL SELECT b.id FROM hook_bodies b WHERE b.project_id = :project AND b.chat_id = :chat_id
  UNION ALL SELECT b.id FROM chats c JOIN hook_bodies b ON b.project_id = c.project_id AND b.chat_id = c.chat_id
    WHERE c.project_id = :project AND c.ticket_id = ANY (:ticket_ids::uuid[]) AND c.channel_id = 'api'
      AND c.chat_id <> ''
)

-- fragment: loose_updates
-- A stored update `x` of a channel that the user has sent or that came in the chat, and that belongs to none of the
-- conversations: no message was made of it, so its conversation may not exist.
x.project_id = :project AND x.state IN ('waiting', 'dead')
  AND (x.user_id = ANY (:user_ids::text[]) OR x.chat_id = :updates_chat_id) AND x.ticket_id <> ALL (:ticket_ids::uuid[])

-- fragment: is_idle
-- SQL that is true when nothing has happened in the chat `c` for `:retention_days` days and nothing waits in it: no
-- message, no reply, no change of its ticket. What waits stays, however long: for the pipeline, for a person, or for a
-- receiver of callbacks.
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
-- Who wrote a message, as its index has it.
coalesce(m.user_id, m.channel_meta ->> 'userId')

-- fragment: purge_every
-- How often a project is looked through for what it has kept for too long.
interval '1 hour'

-- fragment: removal_settles
-- A request that was let in before its project was deleted may still write: so long is looked for that, and so often.
interval '10 minutes'

-- fragment: removal_looks_again
interval '20 seconds'

-- name: listMessages
-- The messages of a conversation.
SELECT id FROM messages WHERE ticket_id = :ticket_id;

-- name: lockPendingDeliveries
-- Erases a conversation under the lock of its chat, by which a process that works on it loses its lease.
SELECT id FROM deliveries WHERE ticket_id = :ticket_id AND state = 'pending' ORDER BY id FOR UPDATE;

-- name: lockChat
-- Locks the chat of a conversation: nobody can work on it or add to it any more.
SELECT 1 FROM chats WHERE project_id = :project AND ticket_id = :ticket_id FOR UPDATE;

-- name: lockTicket
-- A change that is just being made of the ticket is waited for and counts. Locks the rows of tickets that it reads.
SELECT version FROM tickets WHERE id = :ticket_id FOR UPDATE;

-- name: findIdle
-- Whether a chat is idle.
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
-- Counts an erasure in projects, so that what they have learned is read again. Locks the rows of projects that it
-- writes.
UPDATE projects SET erasures = erasures + 1 WHERE id = ANY (:id::uuid[]);

-- name: listAskedProjects
-- Takes what the conversation has asked from the gaps of every project that noted it.
SELECT DISTINCT project_id FROM gap_examples WHERE ticket_id = :ticket_id ORDER BY project_id;

-- name: readMessageIds
-- The ids of a conversation's messages in the order of their places, some at a time.
SELECT id, seq FROM messages WHERE ticket_id = :ticket_id AND seq > :after ORDER BY seq LIMIT {{messageSlice}};

-- name: purgeBodies
-- Bodies of hooks belong to no conversation where no message was made of them. Locks the rows of hook_bodies that it
-- writes.
DELETE FROM hook_bodies b USING hooks h
WHERE h.project_id = :project AND b.hook_id = h.id AND b.received_at < now() - make_interval(days => :retention_days);

-- name: purgeUpdates
-- Updates of a channel that were given up belong to no conversation where no message came before them. Locks the
-- rows of messenger_updates that it writes.
DELETE FROM messenger_updates
WHERE project_id = :project AND state = 'dead' AND received_at < now() - make_interval(days => :retention_days);

-- name: purgeModelCalls
-- Calls of models that were made for no conversation. Locks the rows of model_calls that it writes.
DELETE FROM model_calls
WHERE project_id = :project AND ticket_id IS NULL AND at < now() - make_interval(days => :retention_days);

-- name: purgeViews
-- Views that operators have saved of the tickets of a user who has none (any more). Locks the rows of operator_views
-- that it writes.
DELETE FROM operator_views v WHERE v.project_id = :project AND v.filters ? 'userId' AND NOT EXISTS (
SELECT 1 FROM messages m WHERE m.project_id = :project AND {{author}} = v.filters ->> 'userId'
  AND hashtextextended({{author}}, 0) = hashtextextended(v.filters ->> 'userId', 0));

-- name: findTicketsOfUser
-- The conversations that came in to this project and in which this user wrote, as a sender names it.
SELECT DISTINCT m.ticket_id FROM messages m
WHERE hashtextextended({{author}}, 0) = hashtextextended(:user_id, 0) AND {{author}} = :user_id
  AND m.project_id = :project
ORDER BY m.ticket_id;

-- name: findTickets
-- Of these conversations, those that came in to this project.
SELECT ticket_id FROM chats WHERE project_id = :project AND ticket_id = ANY (:ticket_ids::uuid[]) ORDER BY ticket_id;

-- name: findChat
-- All that is held of a conversation, kind by kind, in parts of some rows.
SELECT 1 FROM chats WHERE project_id = :project AND ticket_id = :ticket_id;

-- name: findLooseBodies
-- The bodies of hooks that name somebody and updates of a channel, which belong to none of these conversations, as
-- `read` shows them.
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
-- Deletes customers. Their conversations, but those that are to be erased, are followed again, and get customers who are
-- made of what these say. Locks the rows of customers and ticket_text_queue that it writes.
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
-- Erases what `readLoose` reads, so that nobody can try it again, and saved views of this user's tickets. Locks the
-- rows of hook_bodies that it writes.
DELETE FROM hook_bodies x WHERE {{loose_bodies}} RETURNING 1;

-- name: deleteLooseUpdates
-- Deletes updates of a channel that belong to none of the conversations. Locks the rows of messenger_updates that
-- it writes.
DELETE FROM messenger_updates x WHERE {{loose_updates}} RETURNING 1;

-- name: deleteViewsOfUser
-- A view that somebody has saved of the tickets of this user, also of all projects. Locks the rows of operator_views
-- that it writes.
DELETE FROM operator_views WHERE (project_id = :project OR project_id IS NULL) AND filters ->> 'userId' = ANY (:user_ids::text[]);

-- name: takeDuePurge
-- Takes the project whose turn it is to be looked through for what it has kept for too long. Locks the rows of projects
-- that it reads.
UPDATE projects SET purge_at = now() + {{purge_every}}
WHERE id = (
  SELECT id FROM projects WHERE retention_days IS NOT NULL AND deleted_at IS NULL AND purge_at <= now()
  ORDER BY purge_at LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING id, name, retention_days;

-- name: listChats
-- Goes through some of a project's chats, those after `after`, and erases the conversations in which nothing has
-- happened for so many days.
SELECT c.ticket_id, c.chat_id <> '' AND {{is_idle}} AS is_idle FROM (
  SELECT ticket_id, chat_id FROM chats WHERE project_id = :project AND (:after::uuid IS NULL OR ticket_id > :after)
  ORDER BY ticket_id LIMIT {{purgePage}}
) c ORDER BY c.ticket_id;

-- name: takeDeletedProject
-- Removes some of what deleted projects held. One process at a time: what another one is deleting right now would look
-- like the end of a step. Locks the rows of projects that it reads.
SELECT id, deleted_at < now() - {{removal_settles}} AS is_settled FROM projects
WHERE deleted_at IS NOT NULL AND purge_at <= now() ORDER BY purge_at LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: listChatsOfDeleted
-- Some chats of a deleted project.
SELECT ticket_id FROM chats WHERE project_id = :project ORDER BY ticket_id LIMIT {{removalTickets}};

-- name: deleteKbs
-- Knowledge bases are removed by `kbs.purge`; one that was made by a late request is deleted like the others. Locks the
-- rows of kbs that it writes.
UPDATE kbs SET deleted_at = now() WHERE project_id = :project AND deleted_at IS NULL;

-- name: deleteProject
-- Deletes a project of which nothing is left. Locks the rows of projects that it writes.
DELETE FROM projects p WHERE p.id = :project AND :is_settled AND NOT EXISTS (SELECT 1 FROM kbs k
  WHERE k.project_id = p.id)
RETURNING 1;

-- name: deleteStoredBytes
-- Nothing of the project is left to be counted. Locks the rows of stored_bytes that it writes.
DELETE FROM stored_bytes WHERE project_id = :project;

-- name: repeatLater
-- Makes a deleted project be checked again later. Locks the rows of projects that it writes.
UPDATE projects SET purge_at = now() + {{removal_looks_again}} WHERE id = :project;

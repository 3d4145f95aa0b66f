-- fragment: covered_by
-- The message whose committed reply also answers message `m`: NULL if `m` has its own reply.
CASE WHEN m.state = 'answered' AND m.covered_by <> m.id THEN m.covered_by END

-- fragment: reply_columns
-- The columns of a reply item, from replies `r`.
r.id, r.ticket_id, r.seq, r.in_reply_to, r.author, r.created_at, r.type, r.text, r.markdown, r.sources, r.filename,
  r.mime, r.content

-- fragment: is_call_over
-- SQL that is true if no call waits for message `m`: it has ended, or its process has crashed.
(m.call_ended_at IS NOT NULL OR NOT EXISTS (
SELECT 1 FROM instances i WHERE i.id = m.call_instance AND {{isAlive}}))

-- fragment: free
-- The reply is not claimed by a reader: it was never claimed, its reader's process has crashed, or the claim is older
-- than {{takenMinutes}} minutes.
(r.taken_by IS NULL OR r.taken_at < now() - interval '{{takenMinutes}} minutes' OR NOT EXISTS (
SELECT 1 FROM instances i WHERE i.id = r.taken_by AND {{isAlive}}))

-- fragment: size
-- Approximate bytes of a reply in a response: content is sent in base64.
octet_length(coalesce(r.text, '')) + octet_length(coalesce(r.content, '')) * 4 / 3 + 200

-- fragment: in_buffer
-- The reply is in the buffer: its message was sent async, or sync and the call has ended, or its callback is dead, or
-- it answers no message. Other replies to webhook messages are sent by callback.
(m.id IS NULL OR m.mode = 'async' OR r.undeliverable_at IS NOT NULL
OR (m.mode = 'sync' AND {{is_call_over}}))

-- fragment: first_hidden
-- The first sequence number of a reply in chat `i` that is not in the buffer but may enter it (its call is open, or a
-- reader that has claimed it may lose it): a cursor at or beyond it would acknowledge it unseen. Replies that wait for
-- their callback do not count: if the callback is dead, they get new sequence numbers.
coalesce((
  SELECT min(r.seq) FROM replies r LEFT JOIN messages m ON m.id = r.in_reply_to
  WHERE r.ticket_id = i.ticket_id AND r.project_id = i.project_id AND r.delivered_at IS NULL
    AND (m.mode IS DISTINCT FROM 'webhook' OR r.undeliverable_at IS NOT NULL)
    AND NOT ({{free}} AND {{in_buffer}})
), 9223372036854775807)

-- name: readForCall (prepared)
-- Reads the state of a waiting call's message and the replies to it in one statement. The replies of an open call
-- belong to it alone while its process runs and no other call has replaced it, so they need no claim.
SELECT m.id AS message_id, m.project_id, c.instance, m.state, {{covered_by}} AS covered_by, {{reply_columns}}
FROM (SELECT DISTINCT * FROM unnest(:project::uuid[], :message_id::uuid[], :instance::uuid[])) AS c (project_id,
  message_id, instance)
JOIN messages m ON m.id = c.message_id AND m.project_id = c.project_id
LEFT JOIN replies r ON r.ticket_id = m.ticket_id AND r.in_reply_to = m.id AND r.delivered_at IS NULL
  AND r.taken_by IS NULL AND m.state <> 'received' AND m.call_ended_at IS NULL AND m.call_instance = c.instance
  AND EXISTS (SELECT 1 FROM instances i WHERE i.id = m.call_instance AND {{isAlive}})
ORDER BY r.seq;

-- name: confirm (prepared)
-- Marks replies that the caller has received as delivered. Locks the rows of replies that it writes.
UPDATE replies r SET delivered_at = now(), taken_by = NULL
FROM unnest(:project_id::uuid[], :id::uuid[]) AS i (project_id, id)
WHERE r.id = i.id AND r.project_id = i.project_id AND r.delivered_at IS NULL;

-- name: endCall (prepared)
-- Ends calls: the replies that callers have received are delivered, all others are in the buffer from now on. Planned
-- once, like `messages.accept`; IS NOT FALSE as in `messages.claim`. Locks the rows of messages, replies that it writes.
WITH call AS (
  UPDATE messages m SET call_ended_at = now()
  FROM unnest(:project_id::uuid[], :message_id::uuid[]) WITH ORDINALITY AS i (project_id, message_id, place)
  WHERE m.id = i.message_id AND m.project_id = i.project_id AND m.call_ended_at IS NULL
    AND i.place BETWEEN 1 AND 1000000
)
UPDATE replies r SET delivered_at = now()
FROM unnest(:project_id2::uuid[], :id::uuid[]) WITH ORDINALITY AS d (project_id, id, place)
WHERE r.id = d.id AND r.project_id = d.project_id AND (r.delivered_at IS NULL) IS NOT FALSE
  AND d.place BETWEEN 1 AND 1000000;

-- name: haveUndelivered (prepared)
-- Returns those of these chats that have an undelivered reply after a sequence number, since a read of the others would
-- find nothing. Readers that wait for the next reply of their chat share this statement, which costs a fraction of a
-- read. Planned once, like `messages.accept`.
SELECT i.place FROM unnest(:project_id::uuid[], :ticket_id::uuid[], :after::bigint[])
  WITH ORDINALITY AS i (project_id, ticket_id, after, place)
CROSS JOIN LATERAL (
  SELECT 1 FROM replies r
  WHERE r.ticket_id = i.ticket_id AND r.project_id = i.project_id AND r.seq > i.after AND r.delivered_at IS NULL
  LIMIT 1
) r
WHERE i.place BETWEEN 1 AND 1000000;

-- name: reopenCall
-- Moves a sync call whose caller has returned to the process of its new call: later replies belong to that one. Locks
-- the rows of messages that it writes.
UPDATE messages m SET call_instance = :instance, call_ended_at = NULL
WHERE m.project_id = :project AND m.id = :message_id AND m.mode = 'sync' AND m.state = 'received' AND {{is_call_over}};

-- name: claimForCall (prepared)
-- A reader of the drain may have claimed them at this moment: this waits for the row lock, and the replies are that
-- reader's. While another running process has a call for the message, it counts as unanswered for this one.
WITH message AS (
  SELECT m.id, m.ticket_id, CASE WHEN {{is_call_over}} OR m.call_instance = :instance THEN m.state ELSE 'received'
    END AS state,
    {{covered_by}} AS covered_by
  FROM messages m WHERE m.id = :message_id AND m.project_id = :project
), taken AS (
  UPDATE replies r SET taken_by = :instance, taken_at = now(), take_id = :take_id FROM message
  WHERE r.ticket_id = message.ticket_id AND r.in_reply_to = message.id AND r.delivered_at IS NULL
    AND message.state <> 'received' AND ({{free}} OR r.take_id = :take_id)
  RETURNING {{reply_columns}}
)
SELECT message.state, message.covered_by, taken.* FROM message LEFT JOIN taken ON true ORDER BY taken.seq;

-- name: listDelivered
-- The replies that the call of a message has delivered, as far as it knows, for a caller who returns and reports that
-- it did not receive them. The end of a call and the delivery of its replies are written by one statement, with one
-- timestamp.
SELECT {{reply_columns}}, r.delivered_at IS NOT NULL AS is_delivered
FROM messages m JOIN replies r ON r.ticket_id = m.ticket_id AND r.in_reply_to = m.id
WHERE m.project_id = :project AND m.id = :message_id AND (r.delivered_at IS NULL OR r.delivered_at = m.call_ended_at)
ORDER BY r.seq;

-- name: endResumedCall
-- Ends a sync call that resumed an earlier one, and whose caller has these replies. Locks replies first, as everywhere.
-- If the call had ended before, its end is set to the time of the delivery. Locks the rows of replies, messages that it
-- writes.
WITH delivered AS (
  UPDATE replies SET delivered_at = now(), taken_by = NULL
  WHERE id = ANY (:delivered::uuid[]) AND project_id = :project AND delivered_at IS NULL RETURNING 1
)
UPDATE messages m SET call_ended_at = now() FROM (SELECT count(*) AS count FROM delivered) d
WHERE m.project_id = :project AND m.id = :message_id AND (d.count > 0 OR m.call_ended_at IS NULL);

-- name: claimFromBuffer (prepared)
-- Claims for each reader, at most one per chat, the oldest buffered replies that fit into one response. SKIP LOCKED gives readers
-- of other processes different replies. The candidates are locked before they are summed, since rows of a window function
-- cannot be locked. Planned once, like `messages.accept`.
WITH reader AS (
  SELECT * FROM unnest(:project_id::uuid[], :ticket_id::uuid[], :instance::uuid[], :take_id::uuid[],
      :kept_days::integer[], :max_replies::integer[], :max_bytes::integer[])
    WITH ORDINALITY AS i (project_id, ticket_id, instance, take_id, kept_days, max_replies, max_bytes, place)
  WHERE place BETWEEN 1 AND 1000000
), candidate AS MATERIALIZED (
  SELECT i.*, c.*
  FROM reader i CROSS JOIN LATERAL (
    SELECT r.id, r.seq, {{size}} AS size_bytes FROM replies r LEFT JOIN messages m ON m.id = r.in_reply_to
    WHERE r.ticket_id = i.ticket_id AND r.project_id = i.project_id AND r.delivered_at IS NULL AND {{free}}
      AND {{in_buffer}} AND {{isKeptFor}}
    ORDER BY r.seq LIMIT i.max_replies + 1 FOR UPDATE OF r SKIP LOCKED
  ) c
), fitting AS (
  SELECT * FROM (
    SELECT *, row_number() OVER up AS position, sum(size_bytes) OVER up AS total,
      count(*) OVER (PARTITION BY ticket_id) AS candidates
    FROM candidate WINDOW up AS (PARTITION BY ticket_id ORDER BY seq)
  ) c WHERE position <= max_replies AND (position = 1 OR total <= max_bytes)
), taken AS (
  UPDATE replies r SET taken_by = f.instance, taken_at = now(), take_id = f.take_id FROM fitting f
    WHERE r.id = f.id RETURNING {{reply_columns}}, f.candidates
), hidden AS MATERIALIZED (
  SELECT i.ticket_id, {{first_hidden}} AS first_hidden FROM (SELECT DISTINCT project_id, ticket_id FROM fitting) i
)
SELECT t.*, h.first_hidden FROM taken t JOIN hidden h USING (ticket_id) ORDER BY t.ticket_id, t.seq;

-- name: readBuffer (prepared)
-- The undelivered replies of a chat after a cursor, as many as fit into one response, and whether there are more.
WITH hidden AS MATERIALIZED (
  SELECT {{first_hidden}} AS first_hidden FROM (SELECT :ticket_id::uuid AS ticket_id, :project::uuid AS project_id) i
), candidate AS MATERIALIZED (
  SELECT {{reply_columns}}, {{size}} AS size_bytes FROM replies r LEFT JOIN messages m ON m.id = r.in_reply_to
  WHERE r.ticket_id = :ticket_id AND r.project_id = :project AND r.seq > :after AND r.delivered_at IS NULL
    AND {{free}} AND {{in_buffer}}
    AND {{isKept}} AND r.seq < (SELECT first_hidden FROM hidden)
  ORDER BY r.seq LIMIT :max_replies::integer + 1
)
SELECT c.*, (SELECT count(*) FROM candidate) AS candidates FROM (
  SELECT *, row_number() OVER (ORDER BY seq) AS place, sum(size_bytes) OVER (ORDER BY seq) AS total FROM candidate
) c WHERE place <= :max_replies AND (place = 1 OR total <= :max_bytes) ORDER BY seq;

-- name: acknowledge
-- Marks the replies up to a cursor as delivered, if the chat has reached it. Locks the rows of replies that it writes.
WITH chat AS (
  SELECT last_seq >= :up_to AS is_known FROM chats WHERE ticket_id = :ticket_id AND project_id = :project
), acknowledged AS (
  UPDATE replies SET delivered_at = now(), taken_by = NULL WHERE id IN (
    SELECT r.id FROM replies r LEFT JOIN messages m ON m.id = r.in_reply_to
    WHERE r.ticket_id = :ticket_id AND r.project_id = :project AND r.seq <= :up_to AND r.delivered_at IS NULL
      AND {{free}} AND {{in_buffer}}
  ) AND (SELECT is_known FROM chat)
)
SELECT is_known FROM chat;

-- name: release
-- Releases the replies that one request claimed, and not those of its whole process: a repeated release must not free
-- what another request of that process has claimed since. Locks the rows of replies that it writes.
UPDATE replies SET taken_by = NULL, take_id = NULL
WHERE project_id = :project AND ticket_id = :ticket_id AND take_id = :take_id AND delivered_at IS NULL;

-- name: read
-- What is indexed stays, unless the subject is another one.
SELECT t.id AS ticket_id, t.subject, t.user_id, t.channel_meta, {{microsecondsOf}} AS created_us, x.seq, tsvector_to_array(x.document) AS lexemes
FROM tickets t LEFT JOIN ticket_texts x ON x.ticket_id = t.id AND x.subject = t.subject
WHERE t.id = ANY (:ticket_ids::uuid[]);

-- name: readSaid
-- Messages and replies share the places of their chat, and both have an index on them. One more than are taken.
SELECT i.ticket_id, said.seq, said.text
FROM unnest(:ticket_id::uuid[], :seq::bigint[]) AS i (ticket_id, seq) CROSS JOIN LATERAL (
  (SELECT seq, text FROM messages m WHERE m.ticket_id = i.ticket_id AND m.seq > i.seq
   ORDER BY seq LIMIT {{stepTexts1}})
  UNION ALL
  (SELECT seq, text FROM replies r WHERE r.ticket_id = i.ticket_id AND r.seq > i.seq AND r.type = 'message'
   ORDER BY seq LIMIT {{stepTexts1}})
  ORDER BY seq LIMIT {{stepTexts1}}
) AS said ORDER BY i.ticket_id, said.seq;

-- name: indexNext
-- Indexes the words of some tickets that wait for it, those that changed last first. Mostly there is nothing to do: one
-- look instead of a transaction.
SELECT NOT EXISTS (SELECT FROM ticket_text_queue) AS is_empty,
NOT EXISTS (SELECT FROM ticket_texts WHERE NOT has_customer) AS is_complete;

-- name: queueWithoutCustomer
-- Tickets whose words were indexed before the customer's belonged to them, some at a time and after all others: the
-- older version indexes without them for as long as it runs beside this one. Locks the rows of ticket_text_queue that
-- it writes.
INSERT INTO ticket_text_queue (ticket_id, queued_at)
SELECT ticket_id, '-infinity' FROM ticket_texts WHERE NOT has_customer LIMIT {{stepTickets}}
ON CONFLICT (ticket_id) DO NOTHING;

-- name: take
-- Deleted before anything is read: a change that comes after the read finds no row and queues the ticket again. SKIP
-- LOCKED: each replica takes other tickets. When the process dies, the transaction undoes it.
DELETE FROM ticket_text_queue WHERE ticket_id IN (
  SELECT ticket_id FROM ticket_text_queue ORDER BY queued_at DESC LIMIT {{stepTickets}} FOR UPDATE SKIP LOCKED
) RETURNING ticket_id;

-- name: write
-- Tickets that were erased meanwhile are gone from the join, whether they have begun anew or not: those are another
-- row, which is in the queue again. One that is erased in this moment waits for this commit and takes the words with
-- it. Locks the tickets' rows, as the foreign key does, but those that were joined; in the order of ids, as every such
-- statement.
INSERT INTO ticket_texts (ticket_id, project_id, document, subject, seq, has_customer)
SELECT t.id, t.project_id,
  array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(i.lexemes)) || (':p:' || t.project_id)), i.subject, i.seq, true
FROM unnest(:ticket_id::uuid[], :lexemes::jsonb[], :subject::text[], :seq::bigint[], :created_us::bigint[])
  AS i (ticket_id, lexemes, subject, seq, created_us)
JOIN tickets t ON t.id = i.ticket_id AND {{microsecondsOf}} = i.created_us
ORDER BY t.id FOR KEY SHARE OF t
ON CONFLICT (ticket_id) DO UPDATE SET project_id = excluded.project_id, document = excluded.document,
  subject = excluded.subject, seq = excluded.seq, has_customer = true;

-- name: queueAgain
-- Locks the rows of ticket_text_queue that it writes.
INSERT INTO ticket_text_queue (ticket_id) SELECT unnest(:unfinished::uuid[]) ON CONFLICT (ticket_id) DO NOTHING;

-- fragment: columns
c.id, c.alias, c.name, c.email, c.phone, c.language, c.time_zone, c.external_id, c.attributes, c.edited, c.first_seen_at,
c.last_seen_at, c.is_blocked, c.unsubscribed_at, c.version,
coalesce((SELECT jsonb_agg(jsonb_build_object('kind', i.kind, 'value', i.value)) FROM (
  SELECT kind, value FROM customer_identities WHERE customer_id = c.id AND kind <> 'merged'
  ORDER BY kind IN ('visitor', 'chat'), created_at, kind, value LIMIT {{identitiesMaxCount}}) i), '[]'::jsonb) AS identities

-- fragment: searchKey
customer_search_key(c.search_text, c.phone)

-- name: lock
-- Serializes writers of the customers of a project: two could each create a customer for the same identity. Locked
-- after tickets.
SELECT pg_advisory_xact_lock(:customers_lock, hashtext(:project));

-- name: find
-- A customer by its id, or by the id of a customer that was merged into it.
SELECT {{columns}}, c.notes FROM customers c WHERE c.project_id = :project AND c.id = coalesce((
  SELECT i.customer_id FROM customer_identities i
  WHERE i.project_id = :project AND i.kind = 'merged' AND i.value = :id::uuid::text), :id::uuid);

-- name: listPage
-- A page of customers, the most recently seen first: those with all of the words, these digits in their phone number, or
-- this identity. PostgreSQL estimates how many have `word` and `second`, the longest. Goes along the index on
-- last_seen_at, or that on trigrams. The value is that time in microseconds.
SELECT {{columns}}, {{lastSeenUs}} AS value FROM customers c
WHERE c.project_id = :project AND (:id::uuid IS NULL
    OR (c.last_seen_at, c.id) < (timestamptz 'epoch' + :value::bigint * interval '1 microsecond', :id))
  AND (:q::text IS NULL
    OR {{searchKey}} LIKE '%' || customer_search_key(:word, NULL) || '%'
      AND (:second::text IS NULL
        OR {{searchKey}} LIKE '%' || customer_search_key(:second, NULL) || '%')
      AND (:others::text[] IS NULL OR {{searchKey}} LIKE ALL (ARRAY(
        SELECT '%' || customer_search_key(other, NULL) || '%' FROM unnest(:others::text[]) AS other)))
    OR {{searchKey}} LIKE '%' || :digits || '%' OR c.id = ANY (ARRAY(
    SELECT i.customer_id FROM customer_identities i
    WHERE i.project_id = :project AND i.kind = ANY ('{user,email,telegram,visitor,chat,merged}') AND i.value = :q)))
ORDER BY c.last_seen_at DESC, c.id DESC LIMIT :limit;

-- name: listOpenTickets
-- The newest tickets of a customer that are not closed, of those that this project works on.
SELECT t.id FROM ticket_customers k JOIN tickets t ON t.id = k.ticket_id
WHERE k.customer_id = :id AND t.project_id = :project AND t.status IN ('open', 'pending')
ORDER BY t.updated_at DESC LIMIT {{openMaxCount}};

-- name: findOfTickets
-- Those of these tickets that still exist, with their customers. A ticket that was erased and created again has another
-- creation time.
SELECT t.id AS ticket_id, c.project_id, {{columns}}
FROM unnest(:ticket_id::uuid[], :created_us::bigint[]) AS g (ticket_id, created_us)
JOIN tickets t ON t.id = g.ticket_id AND {{createdUs}} = g.created_us
LEFT JOIN ticket_customers k ON k.ticket_id = t.id LEFT JOIN customers c ON c.id = k.customer_id;

-- name: findByIdentities
-- The customers with these identities, and which of them each has.
SELECT {{columns}}, own.found FROM (
  SELECT i.customer_id, jsonb_agg(jsonb_build_object('kind', i.kind, 'value', i.value)) AS found
  FROM customer_identities i
  JOIN unnest(:kind::text[], :value::text[]) AS g (kind, value) ON g.kind = i.kind AND g.value = i.value
  WHERE i.project_id = :project GROUP BY i.customer_id
) own JOIN customers c ON c.id = own.customer_id ORDER BY c.id;

-- name: insert
-- Inserts empty customers. Locks the rows of customers that it writes.
INSERT INTO customers (id, project_id, alias, first_seen_at, last_seen_at)
SELECT g.id, :project, g.alias, g.first_seen_at, g.last_seen_at
FROM unnest(:id::uuid[], :alias::text[], :first_seen_at::timestamptz[], :last_seen_at::timestamptz[])
  AS g (id, alias, first_seen_at, last_seen_at);

-- name: addIdentities
-- Adds identities that no customer has. Locks the rows of customer_identities that it writes.
INSERT INTO customer_identities (project_id, kind, value, customer_id)
SELECT :project, g.kind, g.value, g.customer_id
FROM unnest(:customer_id::uuid[], :kind::text[], :value::text[]) AS g (customer_id, kind, value)
ON CONFLICT (project_id, kind, value) DO NOTHING;

-- name: linkTickets
-- Links those of these tickets that still exist to their customers. Locks the rows of ticket_customers that it writes, and
-- those of the tickets.
INSERT INTO ticket_customers (ticket_id, customer_id)
SELECT t.id, g.customer_id FROM unnest(:ticket_id::uuid[], :customer_id::uuid[]) AS g (ticket_id, customer_id)
JOIN tickets t ON t.id = g.ticket_id ORDER BY t.id
ON CONFLICT (ticket_id) DO UPDATE SET customer_id = excluded.customer_id;

-- name: write
-- Updates customers. Locks the rows of customers that it writes.
UPDATE customers c SET name = g.name, email = g.email, phone = g.phone, language = g.language, time_zone = g."timeZone",
  external_id = g."externalId", attributes = g.attributes, edited = g.edited, first_seen_at = g."firstSeenAt",
  last_seen_at = g."lastSeenAt", is_blocked = g."isBlocked", unsubscribed_at = g."unsubscribedAt", version = g.version
FROM jsonb_to_recordset(:customers::jsonb) AS g (id uuid, name text, email text, phone text, language text,
  "timeZone" text, "externalId" text, attributes jsonb, edited text[], "firstSeenAt" timestamptz,
  "lastSeenAt" timestamptz, "isBlocked" boolean, "unsubscribedAt" timestamptz, version integer)
JOIN customers was ON was.id = g.id AND was.project_id = :project
WHERE c.id = was.id
RETURNING c.id, was.version <> c.version AND EXISTS (SELECT FROM webhooks w WHERE w.project_id = :project
  AND w.active_since IS NOT NULL AND 'customer.updated' = ANY (w.events)) AS is_event;

-- name: addNote
-- Adds a note, unless the customer has the maximum. Locks the row of customers that it writes.
UPDATE customers SET notes = notes || :note::jsonb
WHERE project_id = :project AND id = :id AND jsonb_array_length(notes) < {{notesMaxCount}};

-- name: removeNote
-- Deletes a note. Locks the row of customers that it writes.
UPDATE customers SET notes = coalesce((
  SELECT jsonb_agg(n.note ORDER BY n.place) FROM jsonb_array_elements(notes) WITH ORDINALITY AS n (note, place)
  WHERE n.note ->> 'id' <> :note_id::text), '[]')
WHERE project_id = :project AND id = :id AND notes @> jsonb_build_array(jsonb_build_object('id', :note_id::text));

-- name: moveNotes
-- Moves the notes of a customer to another one, in order of time. Locks the row of customers that it writes.
UPDATE customers SET notes = coalesce((
  SELECT jsonb_agg(n.note ORDER BY n.note ->> 'at', n.note ->> 'id') FROM customers c
  CROSS JOIN LATERAL jsonb_array_elements(c.notes) AS n (note) WHERE c.id IN (:into_id, :from_id)), '[]')
WHERE project_id = :project AND id = :into_id;

-- name: moveIdentities
-- Moves the identities of a customer to another one, and adds its id as one. Locks the rows of customer_identities that
-- it writes.
WITH moved AS (UPDATE customer_identities SET customer_id = :into_id WHERE customer_id = :from_id)
INSERT INTO customer_identities (project_id, kind, value, customer_id)
VALUES (:project, 'merged', :from_id::uuid::text, :into_id);

-- name: moveTickets
-- Moves the conversations of a customer to another one. Locks the rows of ticket_customers that it writes.
UPDATE ticket_customers SET customer_id = :into_id WHERE customer_id = :from_id;

-- name: queueTexts
-- Queues the conversations of customers whose names or numbers change, so that a search finds them by the new ones. Before
-- `lock`, since indexing takes both in this order. Locks the rows of ticket_text_queue that it writes.
INSERT INTO ticket_text_queue (ticket_id) SELECT ticket_id FROM ticket_customers WHERE customer_id = ANY (:ids::uuid[])
ORDER BY ticket_id
ON CONFLICT (ticket_id) DO UPDATE SET queued_at = now();

-- name: remove
-- Deletes a customer whose identities and conversations were moved. Locks the rows of customers that it writes.
DELETE FROM customers WHERE project_id = :project AND id = :id;

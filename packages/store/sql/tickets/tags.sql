-- fragment: columns
id, name, color, description, created_at, updated_at, version

-- fragment: has_tickets
-- SQL that is true for a change `c` of a name that tickets have.
EXISTS (
  SELECT FROM ticket_list l JOIN tickets t ON t.id = l.ticket_id
  WHERE l.project_id = c.project_id AND l.tag_keys <> '{}' AND l.tag_keys @> ARRAY[c.project_id || ':' || c.from_name]
    AND t.project_id = c.project_id AND c.from_name = ANY (t.tags))

-- fragment: can_end
-- SQL that is true for a change `c` that ends once no ticket has the former name: ticket_list has all tickets that had it.
-- Pages that still show the former name of a renamed tag may add it for a while; a deleted tag may be added on purpose.
c.event_id <= (SELECT settled_id FROM ticket_index)
  AND (c.to_name IS NULL OR c.created_at < now() - interval '{{replaceForSeconds}} seconds')

-- name: find
-- A managed tag by its id.
SELECT {{columns}} FROM tags WHERE project_id = :project AND id = :id;

-- name: lock
-- Locks a managed tag before a change. Locks the rows of tags that it reads.
SELECT {{columns}} FROM tags WHERE project_id = :project AND id = ANY (:ids::uuid[]) ORDER BY id FOR UPDATE;

-- name: count
-- Counts the managed tags of a project.
SELECT count(*) AS count FROM tags WHERE project_id = :project;

-- name: insert
-- Creates a managed tag. Locks the rows of tags that it writes.
INSERT INTO tags (id, project_id, name, color, description)
VALUES (:id, :project, :name, coalesce(:color::text, 'gray'), coalesce(:description::text, ''))
ON CONFLICT DO NOTHING RETURNING {{columns}};

-- name: listPage
-- Managed tags, newest first: those created before the one with id `before`, with `q` in the name.
SELECT {{columns}} FROM tags
WHERE project_id = :project AND (:before::uuid IS NULL OR id < :before)
  AND (:q::text IS NULL OR strpos(lower(name), lower(:q)) > 0)
ORDER BY id DESC LIMIT :limit;

-- name: update
-- Changes the given fields. Locks the rows of tags that it writes.
UPDATE tags SET name = coalesce(:name, name), color = coalesce(:color, color),
  description = coalesce(:description, description), version = version + 1, updated_at = now()
WHERE project_id = :project AND id = :id RETURNING {{columns}};

-- name: remove
-- Deletes a managed tag. Locks the rows of tags that it writes.
DELETE FROM tags WHERE project_id = :project AND id = :id;

-- name: dropChange
-- Cancels the replacement of a name that is in use again. Locks the rows of tag_changes that it writes.
DELETE FROM tag_changes WHERE project_id = :project AND from_name = :name;

-- name: redirectChanges
-- Redirects changes to a name to the one that replaces it. Locks the rows of tag_changes that it writes.
UPDATE tag_changes SET to_name = :to_name WHERE project_id = :project AND to_name = :from_name;

-- name: insertChange
-- Records that a name is to be replaced on tickets. Locks the rows of tag_changes that it writes.
INSERT INTO tag_changes (project_id, from_name, to_name, actor, event_id)
SELECT :project::uuid, :from_name::text, :to_name::text, :actor::text, coalesce(max(id), 0) FROM ticket_events
ON CONFLICT (project_id, from_name) DO UPDATE SET to_name = excluded.to_name, actor = excluded.actor,
  event_id = excluded.event_id, created_at = now();

-- name: renameInViews
-- Renames a tag in the filters of a project's saved views. Locks the rows of operator_views that it writes.
UPDATE operator_views SET filters = jsonb_set(filters, '{tag}', to_jsonb(:to_name::text))
WHERE project_id = :project AND filters ->> 'tag' = :from_name;

-- name: renameInCannedReplies
-- Replaces a tag in the actions of canned replies, or removes it. Locks the rows of canned_replies that it writes.
UPDATE canned_replies SET version = version + 1, updated_at = now(), actions = jsonb_set(actions, '{addTags}', (
  SELECT coalesce(jsonb_agg(renamed.name ORDER BY renamed.place), '[]') FROM (
    SELECT CASE WHEN tag = :from_name THEN :to_name::text ELSE tag END AS name, min(place) AS place
    FROM jsonb_array_elements_text(actions -> 'addTags') WITH ORDINALITY AS listed (tag, place) GROUP BY 1
  ) AS renamed WHERE renamed.name IS NOT NULL
))
WHERE project_id = :project AND actions -> 'addTags' ? :from_name::text;

-- name: holdChange
-- The oldest change that has tickets, otherwise one that can end, which no other replica is applying. Locks the row of
-- tag_changes that it reads.
SELECT c.project_id AS project, c.from_name, c.to_name, c.actor
FROM tag_changes c CROSS JOIN LATERAL (SELECT {{has_tickets}} AS has_tickets) AS work
WHERE work.has_tickets OR {{can_end}} ORDER BY work.has_tickets DESC, c.created_at LIMIT 1 FOR UPDATE OF c SKIP LOCKED;

-- name: renameOnTickets
-- Replaces a tag on some tickets, or removes it, with an event each, so that lists and the console follow; it has the
-- former and the new name (null if the tag was deleted). The time of the last update is unchanged, so that lists keep
-- their order. SKIP LOCKED: a ticket that is being decided on is left to the next step. Locks the rows of tickets that
-- it writes.
WITH due AS (
  SELECT t.id FROM ticket_list l JOIN tickets t ON t.id = l.ticket_id
  WHERE l.project_id = :project AND l.tag_keys <> '{}' AND l.tag_keys @> ARRAY[:project::text || ':' || :from_name::text]
    AND t.project_id = :project AND :from_name::text = ANY (t.tags)
  LIMIT {{stepTickets}} FOR NO KEY UPDATE OF t SKIP LOCKED
), renamed AS (
  UPDATE tickets t SET version = version + 1, tags = CASE WHEN :to_name::text = ANY (t.tags) OR :to_name::text IS NULL
    THEN array_remove(t.tags, :from_name) ELSE array_replace(t.tags, :from_name, :to_name::text) END
  FROM due WHERE t.id = due.id RETURNING t.id, t.home_project_id, t.tags
)
INSERT INTO ticket_events (ticket_id, project_id, actor, moves, data)
SELECT id, home_project_id, :actor, '[]',
  jsonb_build_object('decision', 'change', 'change', jsonb_build_object('tags', to_jsonb(tags)),
    'tag', jsonb_build_object('from', :from_name::text, 'to', :to_name::text))
FROM renamed RETURNING ticket_id;

-- name: followTickets
-- Updates the tags in ticket_list at once, so that the next step does not read these tickets again. Locks the rows of
-- ticket_list that it writes.
WITH held AS (
  SELECT ticket_id FROM ticket_list WHERE ticket_id = ANY (:ids::uuid[]) ORDER BY ticket_id FOR NO KEY UPDATE
)
UPDATE ticket_list l SET version = t.version,
  tag_keys = ARRAY(SELECT t.project_id || ':' || tag FROM unnest(t.tags) AS tag)
FROM held JOIN tickets t ON t.id = held.ticket_id WHERE l.ticket_id = held.ticket_id;

-- name: finishChange
-- Deletes a change that was applied to all tickets and can end. Locks the rows of tag_changes that it writes.
DELETE FROM tag_changes c WHERE c.project_id = :project AND c.from_name = :from_name AND {{can_end}} AND NOT {{has_tickets}};

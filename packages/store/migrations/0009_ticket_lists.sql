-- Up Migration

-- What lists of tickets are filtered and sorted by, in narrow rows with indexes of their own. A ticket's row is written
-- twice with each message: an index on anything that such a write changes (updated_at, status, stage) would make both
-- writes put a new entry into every index of tickets, which is a fifth of what PostgreSQL does for a message. So tickets
-- gets no index here. These rows follow in the background, and whoever lists tickets reads those that they have not
-- followed yet from tickets itself: see ticket_index.
CREATE TABLE ticket_list (
  ticket_id uuid PRIMARY KEY REFERENCES tickets (id) ON DELETE CASCADE,
  project_id uuid NOT NULL,
  -- Microseconds since 1970.
  created_us bigint NOT NULL,
  updated_us bigint NOT NULL,
  -- 10^13 for each step of priority (low is 0, urgent is 3) and the milliseconds of the last change.
  urgency bigint NOT NULL,
  version integer NOT NULL,
  status text NOT NULL,
  stage text NOT NULL,
  channel_id text NOT NULL,
  agent_id uuid,
  assignee text,
  language text,
  user_id text,
  -- Only where another project is its home: elsewhere the ticket's id follows from the chat.
  foreign_chat_id text,
  -- '<project_id>:<tag>', so that what other projects call theirs costs nothing.
  tag_keys text[] NOT NULL
);
-- With what else tickets are often asked for by: looking for a rare combination goes along the index alone.
CREATE INDEX ticket_list_by_update ON ticket_list (project_id, updated_us, ticket_id)
  INCLUDE (status, stage, channel_id, language, assignee, created_us, urgency);
CREATE INDEX ticket_list_by_creation ON ticket_list (project_id, created_us, ticket_id)
  INCLUDE (status, stage, channel_id, language, assignee, updated_us, urgency);
CREATE INDEX ticket_list_by_urgency ON ticket_list (project_id, urgency, ticket_id)
  INCLUDE (status, stage, channel_id, language, assignee, created_us, updated_us);
-- Values that few tickets have.
CREATE INDEX ticket_list_of_agent ON ticket_list (project_id, agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX ticket_list_of_user ON ticket_list (project_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX ticket_list_of_assignee ON ticket_list (project_id, assignee) WHERE assignee IS NOT NULL;
CREATE INDEX ticket_list_of_language ON ticket_list (project_id, language, channel_id) WHERE language IS NOT NULL;
CREATE INDEX ticket_list_of_channel ON ticket_list (project_id, channel_id);
CREATE INDEX ticket_list_of_foreign_chat ON ticket_list (project_id, foreign_chat_id)
  WHERE foreign_chat_id IS NOT NULL;
CREATE INDEX ticket_list_of_tag ON ticket_list USING gin (tag_keys) WITH (fastupdate = off) WHERE tag_keys <> '{}';
-- What is rare in most projects and looked for most of all.
CREATE INDEX ticket_list_unsettled ON ticket_list (project_id, stage) WHERE stage <> 'done';
CREATE INDEX ticket_list_unusual ON ticket_list (project_id, status) WHERE status IN ('open', 'spam');

-- The words of a ticket's subject, messages and replies, of its project, and the beginnings of its words.
CREATE TABLE ticket_texts (
  ticket_id uuid PRIMARY KEY REFERENCES tickets (id) ON DELETE CASCADE,
  project_id uuid NOT NULL,
  document tsvector NOT NULL,
  -- What it is made from: this subject, and what was said up to this place in the chat.
  subject text NOT NULL,
  seq bigint NOT NULL
) WITH (toast_tuple_target = 128);
-- Documents lie beside the rows, which are short then: most searches need the rows alone. They are not packed, since a
-- search for very frequent words looks into many of them one by one.
ALTER TABLE ticket_texts ALTER COLUMN document SET STORAGE EXTERNAL;
-- What waits to be sorted in is read with each search, so it is kept short.
CREATE INDEX ticket_texts_by_word ON ticket_texts USING gin (document) WITH (gin_pending_list_limit = 256);

-- Tickets whose words are to be read, those that changed last first.
CREATE TABLE ticket_text_queue (
  ticket_id uuid PRIMARY KEY,
  queued_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ticket_text_queue_by_time ON ticket_text_queue (queued_at);

-- One row: how far ticket_list has followed ticket_events, in which every change of a ticket leaves a row.
CREATE TABLE ticket_index (
  is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
  -- Every event up to this one is in ticket_list.
  settled_id bigint NOT NULL,
  -- The newest event of an earlier look. A transaction that was on its way then may add one before it: once all that
  -- began before reached_xmax have ended, that event is settled.
  reached_id bigint NOT NULL,
  reached_xmax xid8 NOT NULL
);

-- Statistics read the events of a project in a span of time, and none of other projects. A new event goes to the end of
-- its project's entries.
CREATE INDEX ticket_events_by_time ON ticket_events (project_id, at);

-- The tickets that are there. An event that is being written in this moment has a number near the last one.
INSERT INTO ticket_index (settled_id, reached_id, reached_xmax)
SELECT greatest(coalesce(max(id), 0) - 10000, 0), coalesce(max(id), 0), pg_snapshot_xmax(pg_current_snapshot())
FROM ticket_events;
INSERT INTO ticket_list (ticket_id, project_id, created_us, updated_us, urgency, version, status, stage, channel_id,
  agent_id, assignee, language, user_id, foreign_chat_id, tag_keys)
SELECT t.id, t.project_id, (extract(epoch FROM t.created_at) * 1000000)::bigint,
  (extract(epoch FROM t.updated_at) * 1000000)::bigint,
  coalesce(array_position(ARRAY['low', 'normal', 'high', 'urgent'], t.priority), 2) * 10000000000000 - 10000000000000
    + (extract(epoch FROM t.updated_at) * 1000)::bigint,
  t.version, t.status, t.stage, t.channel_id, t.agent_id, t.assignee, t.language, t.user_id,
  CASE WHEN t.project_id <> t.home_project_id THEN t.chat_id END,
  ARRAY(SELECT t.project_id || ':' || tag FROM unnest(t.tags) AS tag)
FROM tickets t;
-- Their words are read by the pipeline, after whatever changes meanwhile.
INSERT INTO ticket_text_queue (ticket_id, queued_at) SELECT id, '-infinity' FROM tickets;

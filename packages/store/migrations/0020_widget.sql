-- Up Migration

-- The message that a visitor's browser has given an id: sent twice, over HTTP, a socket or two replicas at once, it is
-- one. Kept as long as the conversation.
CREATE TABLE widget_messages (
  ticket_id uuid NOT NULL,
  project_id uuid NOT NULL,
  client_message_id text COLLATE "C" NOT NULL,
  -- Reserved before the message is committed, so that a repeat commits the same one or none.
  message_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (ticket_id, client_message_id)
);
CREATE UNIQUE INDEX widget_messages_message ON widget_messages (message_id);
CREATE INDEX widget_messages_of_project ON widget_messages (project_id);

-- What a visitor has said about a conversation beside its messages.
CREATE TABLE visitors (
  ticket_id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  -- The visitor has seen everything up to this place.
  read_seq bigint NOT NULL DEFAULT 0,
  -- 1 (not at all satisfied) to 5; NULL while not rated.
  score integer,
  comment text,
  rated_at timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 80);
CREATE INDEX visitors_of_project ON visitors (project_id);

-- Files that visitors have sent. They belong to a chat, which may have no message yet.
CREATE TABLE widget_files (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  -- The message that names it; NULL while none does.
  message_id uuid,
  filename text NOT NULL,
  -- By its content, never by what its sender says.
  mime text NOT NULL,
  content bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The sweeper has found, a day after it came, that a message has it.
  is_kept boolean NOT NULL DEFAULT false
);
-- Most files are compressed already.
ALTER TABLE widget_files ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX widget_files_of_ticket ON widget_files (ticket_id, id);
CREATE INDEX widget_files_of_message ON widget_files (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX widget_files_of_project ON widget_files (project_id);
CREATE INDEX widget_files_unused ON widget_files (created_at) WHERE NOT is_kept;

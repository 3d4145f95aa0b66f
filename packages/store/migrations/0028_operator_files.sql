-- Up Migration

-- Files that operators have handed in for a reply. They become items of the reply, and go from here when it is sent.
CREATE TABLE operator_files (
  id uuid PRIMARY KEY,
  -- Where the ticket came in, as of its messages and replies.
  project_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  filename text NOT NULL,
  -- By its content, never by what its sender says.
  mime text NOT NULL,
  content bytea NOT NULL,
  -- A decision names it.
  is_used boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
-- Most files are compressed already.
ALTER TABLE operator_files ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX operator_files_of_ticket ON operator_files (ticket_id, id);
CREATE INDEX operator_files_unused ON operator_files (created_at) WHERE NOT is_used;

-- The files that a decision sends, in their order.
ALTER TABLE reviews ADD COLUMN file_ids uuid[] NOT NULL DEFAULT '{}';

-- Notes that are for somebody by name; few are.
CREATE INDEX ticket_events_mentions ON ticket_events USING gin ((data -> 'mentions')) WHERE data ? 'mentions';

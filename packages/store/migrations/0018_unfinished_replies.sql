-- Up Migration

-- What the answer to a message says so far, while a model is writing it: one row a message, for those who show it as it
-- grows. Written several times a second and worth nothing once the reply is there, so that it may be lost in a crash of
-- the database: the reply itself is made and kept as ever.
CREATE UNLOGGED TABLE unfinished_replies (
  message_id uuid PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  project_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  text text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

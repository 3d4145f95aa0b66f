-- Up Migration

-- The message whose reply answers this one too: a person has decided on both at once. Its own id for the one that the
-- reply answers.
ALTER TABLE messages ADD COLUMN covered_by uuid;

-- What waits for a person, in the order of its chat. A message that is answered automatically never enters it.
CREATE INDEX messages_of_people ON messages (ticket_id, seq) WHERE state IN ('held', 'failed');

-- What a person has decided about a ticket and the pipeline has to do: an answer to send, or a draft to make anew. It is
-- committed with the decision itself.
CREATE TABLE reviews (
  id uuid PRIMARY KEY,
  -- Where the ticket came in, as of its messages and replies.
  project_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  kind text NOT NULL,
  -- Who decided.
  actor text NOT NULL,
  -- Whose words it sends, and which; NULL for a draft.
  author text,
  text text,
  markdown boolean,
  sources jsonb,
  -- The message that the reply answers, by whose way it goes; and those that it covers.
  answers_message_id uuid,
  covers uuid[] NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  -- Why the last try failed; with finished_at: why it was given up.
  failure text,
  -- Not to be tried before this time.
  not_before timestamptz NOT NULL DEFAULT now(),
  -- When the sweeper publishes it again if nobody has taken it.
  due_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
) WITH (fillfactor = 80);
CREATE INDEX reviews_of_ticket ON reviews (ticket_id, id);
CREATE INDEX reviews_due ON reviews (due_at) WHERE finished_at IS NULL;

-- Tickets that were given to another project: its operators see their dead letters.
CREATE INDEX tickets_given ON tickets (project_id) WHERE project_id <> home_project_id;

-- The decision of a chat that is not carried out yet, one at a time: it goes before the chat's messages.
ALTER TABLE chats ADD COLUMN review_id uuid;

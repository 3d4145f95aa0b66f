-- Up Migration

-- One row a conversation of a channel that pushes its replies: up to where they have to be sent, and up to where that
-- is settled. Whoever holds the lease is the only one who sends in that conversation.
CREATE TABLE outboxes (
  ticket_id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  channel_id text NOT NULL,
  -- Place of the last reply that has to be sent.
  wanted_seq bigint NOT NULL,
  -- Every reply up to this place is sent, or noted as undeliverable.
  settled_seq bigint NOT NULL DEFAULT 0,
  -- Of the oldest reply that is not settled: how often it was tried, how often it was put off since, and how many of its
  -- parts are sent.
  tries integer NOT NULL DEFAULT 0,
  deferrals integer NOT NULL DEFAULT 0,
  sent_parts integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT now(),
  lease_id uuid,
  lease_until timestamptz
) WITH (fillfactor = 70);
CREATE INDEX outboxes_due ON outboxes (channel_id, next_at) WHERE settled_seq < wanted_seq;
CREATE INDEX outboxes_of_project ON outboxes (project_id);

-- Why a reply that a channel pushes was given up, and whether that was after five tries: then it can be sent again.
ALTER TABLE replies ADD COLUMN failure text;
ALTER TABLE replies ADD COLUMN is_dead boolean NOT NULL DEFAULT false;
CREATE INDEX replies_dead ON replies (undeliverable_at) WHERE is_dead;

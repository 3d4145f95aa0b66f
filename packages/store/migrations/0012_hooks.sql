-- Up Migration

-- Where platforms whose webhooks have a fixed shape post to: how a call proves itself, and what becomes of its body.
CREATE TABLE hooks (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name text NOT NULL,
  preset text,
  -- The scheme of the proof; no secret.
  auth jsonb NOT NULL,
  -- What the proof is checked with, sealed; and the one before the last rotation, which counts until its time is over.
  sealed_secret text NOT NULL,
  previous_sealed_secret text,
  previous_until timestamptz,
  mapping jsonb NOT NULL,
  filter jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  UNIQUE (project_id, name)
);

-- The last bodies of each hook, with what became of them. They are as they came, and so may be personal.
CREATE TABLE hook_bodies (
  -- Also the id of the message that it becomes, so that a body which is tried twice is one message.
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  hook_id uuid NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
  received_at timestamptz NOT NULL DEFAULT now(),
  content_type text NOT NULL,
  -- Those that a mapping may use.
  headers jsonb NOT NULL,
  -- As bytes: text that Postgres does not take (NUL) may be in it.
  content bytea NOT NULL,
  outcome text NOT NULL,
  -- What was wrong with it: pointers and texts.
  faults jsonb NOT NULL DEFAULT '[]',
  event_id text,
  -- Of the message that was made of it, or of the one that an earlier call with the same event became.
  message_id uuid,
  ticket_id uuid,
  chat_id text,
  user_id text,
  tries integer NOT NULL DEFAULT 1,
  tried_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX hook_bodies_of_hook ON hook_bodies (hook_id, id);
CREATE INDEX hook_bodies_of_ticket ON hook_bodies (ticket_id) WHERE ticket_id IS NOT NULL;
-- Bodies of somebody, also those that no message was made of.
CREATE INDEX hook_bodies_of_user ON hook_bodies (project_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX hook_bodies_of_chat ON hook_bodies (project_id, chat_id) WHERE chat_id IS NOT NULL;
CREATE INDEX hook_bodies_by_age ON hook_bodies (received_at);

-- Events that have become a message: the row is there before the message and names it, so that a repeat of the event
-- knows which one it is, whatever has died in between.
CREATE TABLE hook_events (
  hook_id uuid NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
  event_id text NOT NULL,
  project_id uuid NOT NULL,
  message_id uuid NOT NULL,
  chat_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (hook_id, event_id)
);
CREATE INDEX hook_events_of_message ON hook_events (message_id);
CREATE INDEX hook_events_by_age ON hook_events (created_at);

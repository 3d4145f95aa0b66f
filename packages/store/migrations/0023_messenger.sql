-- Up Migration

-- What a customer of the messenger reads who starts the bot. Empty: a text of the service's own, in the customer's
-- language where it has that.
ALTER TABLE projects ADD COLUMN greeting text NOT NULL DEFAULT '';

-- Work that one process at a time does, whichever replica it is in.
CREATE TABLE service_leases (
  name text PRIMARY KEY,
  holder uuid NOT NULL,
  lease_until timestamptz NOT NULL
) WITH (fillfactor = 50);

-- What Telegram has handed over, one row an update: committed before Telegram is told that it has arrived, so that each
-- is there once, whoever fetched it how often.
CREATE TABLE messenger_updates (
  bot_id bigint NOT NULL,
  update_id bigint NOT NULL,
  project_id uuid NOT NULL,
  -- The conversation, NULL where it is about none, and the message that the update becomes: named when it comes, so that
  -- a repeat makes the same one.
  ticket_id uuid,
  message_id uuid NOT NULL,
  -- accepted: it is a message. answered: by the bot itself, as `/start` is. ignored: it was nothing to answer. dead: five
  -- tries have failed, and it waits for an operator.
  state text NOT NULL CHECK (state IN ('waiting', 'accepted', 'answered', 'ignored', 'dead')),
  -- As long as it waits or is dead: the chat, who wrote, and all of it as Telegram sent it. Text, since JSON may name
  -- characters that jsonb does not take.
  chat_id text,
  user_id text,
  body text,
  -- How its text begins, for operators.
  excerpt text,
  -- The album that it is a part of, and the update whose message has all its parts; that one names itself.
  album_id text,
  joined_to bigint,
  tries integer NOT NULL DEFAULT 0,
  -- Not taken before.
  next_at timestamptz NOT NULL DEFAULT now(),
  failure text,
  received_at timestamptz NOT NULL DEFAULT now(),
  settled_at timestamptz,
  PRIMARY KEY (bot_id, update_id)
) WITH (fillfactor = 70);
CREATE INDEX messenger_updates_waiting ON messenger_updates (bot_id, ticket_id, update_id) WHERE state = 'waiting';
CREATE INDEX messenger_updates_dead ON messenger_updates (project_id, settled_at) WHERE state = 'dead';
CREATE INDEX messenger_updates_settled ON messenger_updates (settled_at) WHERE state <> 'waiting';
CREATE INDEX messenger_updates_of_ticket ON messenger_updates (ticket_id, message_id);
CREATE UNIQUE INDEX messenger_updates_of_message ON messenger_updates (message_id);

-- Up Migration

-- Requests a minute that a key may make from one address. NULL: the default of the service; 0: no limit.
ALTER TABLE api_keys ADD COLUMN rate_limit integer;
-- A key that was rotated expires soon; what takes its place expires when it would have.
ALTER TABLE api_keys ADD COLUMN is_rotated boolean NOT NULL DEFAULT false;
ALTER TABLE api_keys ADD COLUMN successor_expires_at timestamptz;

-- A reply whose callback is dead: from then on it is in the buffer, at a new place at the end of its chat.
ALTER TABLE replies ADD COLUMN undeliverable_at timestamptz;
-- Since when a process has it, and by which of its calls: so that a call whose look was broken off can give it back.
ALTER TABLE replies ADD COLUMN taken_at timestamptz;
ALTER TABLE replies ADD COLUMN take_id uuid;

-- What repeated calls get instead of a second message. The row is claimed before the message is committed and names
-- the message, so that whoever takes the call over knows whether it is there.
CREATE TABLE idempotency_keys (
  api_key_id uuid NOT NULL,
  project_id uuid NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  key text NOT NULL,
  -- SHA-256 of project and body: a key that chooses its project cannot mix two up.
  body_hash bytea NOT NULL,
  message_id uuid NOT NULL,
  chat_id text NOT NULL,
  -- The call that works on it right now and the process that it runs in; NULL once it has ended.
  call_id uuid,
  call_instance uuid,
  -- The answer, as repeats get it; NULL until there is one.
  status integer,
  headers jsonb,
  body text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (api_key_id, method, path, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Where the callbacks of a message go: one row a message of mode webhook.
CREATE TABLE callbacks (
  message_id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  url text NOT NULL,
  -- The key that sent the message, and that key itself, sealed, where no webhook secret was set.
  api_key_id uuid,
  sealed_secret text,
  -- Id of the final callback, which the sender was told.
  delivery_id uuid NOT NULL,
  -- When the sender wants to hear that there is no answer yet; NULL when it need not.
  timeout_at timestamptz,
  -- True when something has happened to the message that no callback tells yet, and since when.
  has_news boolean NOT NULL DEFAULT false,
  news_at timestamptz,
  -- Type of the last callback that was made.
  told text,
  is_final_made boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 80);
CREATE INDEX callbacks_news ON callbacks (ticket_id) WHERE has_news;
CREATE INDEX callbacks_timeout ON callbacks (timeout_at) WHERE timeout_at IS NOT NULL;
CREATE INDEX callbacks_sealed ON callbacks (created_at) WHERE sealed_secret IS NOT NULL;
CREATE INDEX callbacks_sealed_of_key ON callbacks (api_key_id) WHERE sealed_secret IS NOT NULL;

-- Callbacks to make. Those of a chat are made one after the other in the order of `place`.
CREATE TABLE deliveries (
  id uuid PRIMARY KEY,
  place bigint GENERATED ALWAYS AS IDENTITY,
  project_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  message_id uuid NOT NULL,
  type text NOT NULL,
  url text NOT NULL,
  -- The replies that it carries, in their order.
  reply_ids uuid[] NOT NULL,
  state text NOT NULL DEFAULT 'pending',
  -- Tries since it was made or last replayed.
  tries integer NOT NULL DEFAULT 0,
  -- Not to be tried before this time.
  next_at timestamptz NOT NULL DEFAULT now(),
  -- When the sweeper publishes it again if nobody has taken it.
  due_at timestamptz NOT NULL,
  lease_id uuid,
  lease_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
) WITH (fillfactor = 70);
CREATE INDEX deliveries_pending ON deliveries (ticket_id, place) WHERE state = 'pending';
CREATE INDEX deliveries_due ON deliveries (due_at) WHERE state = 'pending';
CREATE INDEX deliveries_dead ON deliveries (id) WHERE state = 'dead';
CREATE INDEX deliveries_of_message ON deliveries (message_id);
CREATE INDEX deliveries_of_project ON deliveries (project_id, place);

-- The result of each try, kept.
CREATE TABLE delivery_attempts (
  delivery_id uuid NOT NULL,
  -- Counts over replays too.
  number integer NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  duration_ms integer,
  -- HTTP status of the receiver's answer, else why there was none.
  status integer,
  error text,
  PRIMARY KEY (delivery_id, number)
);

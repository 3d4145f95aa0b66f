-- Up Migration

-- One row: what belongs to this installation as a whole.
CREATE TABLE installation (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  -- Sealed constant: opens only with the SVC_SECRET_KEY that sealed it.
  secret_key_check text,
  initialized_at timestamptz,
  -- When somebody was shown the first administrator's key, which cannot be shown again.
  admin_key_shown_at timestamptz
);
INSERT INTO installation DEFAULT VALUES;

CREATE TABLE projects (
  id uuid PRIMARY KEY,
  name text NOT NULL UNIQUE,
  handoff_text text NOT NULL,
  tables_as_xlsx boolean NOT NULL DEFAULT true,
  retention_days integer,
  created_at timestamptz NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1
);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  -- NULL: an administrator's key, which chooses its project with each request.
  project_id uuid REFERENCES projects (id) ON DELETE CASCADE,
  name text NOT NULL,
  prefix text NOT NULL,
  -- SHA-256 of the key; the key itself is stored nowhere.
  hash bytea NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
-- A revoked key may be imported again, so only live keys are unique.
CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash) WHERE revoked_at IS NULL;

-- One row: the settings that change while the service runs (channels_config.enabled, channels_config.api.config, …).
CREATE TABLE channels_config (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  enabled text[] NOT NULL DEFAULT '{}',
  api jsonb NOT NULL DEFAULT '{"config": {}}',
  widget jsonb NOT NULL DEFAULT '{"config": {}}',
  messenger jsonb NOT NULL DEFAULT '{"config": {}}',
  version integer NOT NULL DEFAULT 1,
  updated_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO channels_config DEFAULT VALUES;

CREATE TABLE agents (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name text NOT NULL,
  description text NOT NULL DEFAULT '',
  instructions text NOT NULL DEFAULT '',
  model text,
  kb_ids uuid[] NOT NULL DEFAULT '{}',
  examples text[] NOT NULL DEFAULT '{}',
  review_policy text NOT NULL DEFAULT 'auto_if',
  auto_threshold real NOT NULL DEFAULT 0.5,
  fixed_reply text,
  tools jsonb NOT NULL DEFAULT '[]',
  enabled boolean NOT NULL DEFAULT true,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project_id, name)
);

-- Processes that hold calls open. What a dead one had taken and not handed over goes back to the buffer.
CREATE TABLE instances (
  id uuid PRIMARY KEY,
  app text NOT NULL,
  alive_until timestamptz NOT NULL
);

-- The tables below are written with every message. They have no foreign keys among each other: each costs a look-up a
-- row, and rows are only ever made by the statements of this package and deleted together.

-- One row a conversation: the order of what happens in it, and the lease of the worker that has it.
CREATE TABLE chats (
  ticket_id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  channel_id text NOT NULL,
  chat_id text NOT NULL,
  last_seq bigint NOT NULL,
  lease_id uuid,
  lease_until timestamptz
) WITH (fillfactor = 70);

-- The incoming messages: committed before they are acknowledged.
CREATE TABLE messages (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  seq bigint NOT NULL,
  user_id text,
  text text NOT NULL,
  timestamp_ms bigint NOT NULL,
  attachments jsonb,
  channel_meta jsonb NOT NULL,
  -- How the sender takes its replies; NULL on channels that push them.
  mode text,
  -- The process that holds a sync call open, and when the call ended.
  call_instance uuid,
  call_ended_at timestamptz,
  state text NOT NULL DEFAULT 'received',
  attempts integer NOT NULL DEFAULT 0,
  -- Not to be tried again before this time.
  not_before timestamptz,
  -- When the sweeper publishes it again if nobody has taken it.
  due_at timestamptz NOT NULL,
  -- What the stages have found so far, so that a retry does not run them again.
  progress jsonb,
  failure text,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX messages_place ON messages (ticket_id, seq);
CREATE INDEX messages_waiting ON messages (ticket_id, seq) WHERE state = 'received';
CREATE INDEX messages_due ON messages (due_at) WHERE state = 'received';
CREATE INDEX messages_dead ON messages (project_id, finished_at) WHERE state = 'failed';

CREATE TABLE tickets (
  id uuid PRIMARY KEY,
  -- Where it came in; never changes. Keys, drains and callbacks go by it.
  home_project_id uuid NOT NULL,
  -- Who works on it; triage and rerouting change it.
  project_id uuid NOT NULL,
  channel_id text NOT NULL,
  chat_id text NOT NULL,
  user_id text,
  subject text NOT NULL,
  status text NOT NULL DEFAULT 'open',
  stage text NOT NULL DEFAULT 'received',
  priority text NOT NULL DEFAULT 'normal',
  assignee text,
  agent_id uuid,
  confidence real,
  language text,
  tags text[] NOT NULL DEFAULT '{}',
  channel_meta jsonb NOT NULL DEFAULT '{}',
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  first_reply_at timestamptz,
  resolved_at timestamptz
) WITH (fillfactor = 70);
CREATE INDEX tickets_of_project ON tickets (project_id, created_at);

-- What happened to a ticket, append-only. One row for each run of the pipeline holds all moves of that run.
CREATE TABLE ticket_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  ticket_id uuid NOT NULL,
  project_id uuid NOT NULL,
  message_id uuid,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  moves jsonb NOT NULL DEFAULT '[]',
  data jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX ticket_events_of_ticket ON ticket_events (ticket_id, id);

-- The answer that waits for an operator, one a ticket.
CREATE TABLE drafts (
  ticket_id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  text text NOT NULL,
  markdown boolean NOT NULL,
  sources jsonb NOT NULL DEFAULT '[]',
  confidence real,
  why text NOT NULL,
  covers uuid[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- Reply items. A row exists exactly once; delivered_at says that the receiver has it.
CREATE TABLE replies (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  seq bigint NOT NULL,
  in_reply_to uuid,
  author text NOT NULL,
  type text NOT NULL,
  text text,
  markdown boolean,
  sources jsonb,
  filename text,
  mime text,
  content bytea,
  -- The process that is handing it over right now.
  taken_by uuid,
  delivered_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX replies_place ON replies (ticket_id, seq);
CREATE INDEX replies_undelivered ON replies (ticket_id, seq) WHERE delivered_at IS NULL;

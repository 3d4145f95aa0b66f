-- Up Migration

-- Operators who are signed in to the console, one row a browser.
CREATE TABLE operator_sessions (
  id uuid PRIMARY KEY,
  operator_id uuid NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
  -- SHA-256 of the token in the cookie.
  hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- To the minute or so: a session that nobody uses ends.
  last_used_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX operator_sessions_of_operator ON operator_sessions (operator_id);
CREATE INDEX operator_sessions_by_age ON operator_sessions (created_at);

-- Links that let somebody in once, without a password, to choose one.
CREATE TABLE operator_links (
  id uuid PRIMARY KEY,
  -- NULL: the link makes the first administrator.
  operator_id uuid REFERENCES operators (id) ON DELETE CASCADE,
  -- SHA-256 of the token in the link.
  hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
-- One for each operator, and one for the first administrator: a new link takes the place of an older one.
CREATE UNIQUE INDEX operator_links_once
  ON operator_links (coalesce(operator_id, '00000000-0000-0000-0000-000000000000'));

-- Who looks at a ticket right now, and is writing. It says nothing any more after a restart, so it need not be kept.
CREATE UNLOGGED TABLE operator_presence (
  session_id uuid NOT NULL REFERENCES operator_sessions (id) ON DELETE CASCADE,
  -- A tab of the browser, by the name that the page has given itself.
  tab text NOT NULL,
  operator_id uuid NOT NULL,
  project_id uuid NOT NULL,
  ticket_id uuid NOT NULL REFERENCES tickets (id) ON DELETE CASCADE,
  is_typing boolean NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (session_id, tab)
);
CREATE INDEX operator_presence_of_ticket ON operator_presence (ticket_id);

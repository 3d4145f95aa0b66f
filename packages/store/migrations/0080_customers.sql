-- Up Migration

-- The people who write to a project. Rows are made and kept up to date by what follows the events of tickets (see
-- ticket_texts.has_customer_row), never by a message itself. A customer lives as long as one of its conversations.
CREATE TABLE customers (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  -- A friendly name for one whose name is not known: the same for the same identity.
  alias text NOT NULL,
  name text,
  email text,
  phone text,
  language text,
  time_zone text,
  external_id text,
  attributes jsonb NOT NULL DEFAULT '{}',
  -- Columns that a person has set: what channels say later does not replace them.
  edited text[] NOT NULL DEFAULT '{}',
  first_seen_at timestamptz NOT NULL,
  -- At most a minute behind the newest message.
  last_seen_at timestamptz NOT NULL,
  version integer NOT NULL DEFAULT 1,
  -- What a search looks into.
  search_text text NOT NULL GENERATED ALWAYS AS (lower(alias || ' ' || coalesce(name, '') || ' ' || coalesce(email, '')
    || ' ' || coalesce(phone, '') || ' ' || coalesce(external_id, '') || ' ' || attributes::text)) STORED
);
CREATE INDEX customers_by_last_seen ON customers (project_id, last_seen_at, id);
-- Without pg_trgm, searches go along the index above.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    EXECUTE format('CREATE INDEX customers_by_trigram ON customers USING gin (search_text %I.gin_trgm_ops)',
      (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'));
  END IF;
END $$;

-- What a channel knows a customer by. Kind 'merged' is the id of a customer that became part of this one.
CREATE TABLE customer_identities (
  project_id uuid NOT NULL,
  kind text NOT NULL,
  value text NOT NULL,
  customer_id uuid NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, kind, value)
);
CREATE INDEX customer_identities_of_customer ON customer_identities (customer_id);

-- Whose conversation a ticket is. Written once for most tickets.
CREATE TABLE ticket_customers (
  ticket_id uuid PRIMARY KEY REFERENCES tickets (id) ON DELETE CASCADE,
  customer_id uuid NOT NULL REFERENCES customers (id) ON DELETE CASCADE
);
CREATE INDEX ticket_customers_of_customer ON ticket_customers (customer_id);

-- True once the customer of the ticket was looked for. The pipeline does that for the other rows in the background, a few
-- at a time, and also for those that the version before writes meanwhile.
ALTER TABLE ticket_texts ADD COLUMN has_customer_row boolean NOT NULL DEFAULT false;

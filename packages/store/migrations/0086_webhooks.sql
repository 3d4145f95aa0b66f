-- Up Migration

-- URLs of a project that receive its events.
CREATE TABLE webhooks (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  description text NOT NULL,
  url text NOT NULL,
  -- What signs its events, sealed, and the secret before it, which signs too until its time is over.
  sealed_secret text NOT NULL,
  previous_sealed_secret text,
  previous_until timestamptz,
  -- Types of the events that it receives.
  events text[] NOT NULL,
  -- Filters, each a list of values; an empty one selects all.
  channels text[] NOT NULL,
  agent_ids uuid[] NOT NULL,
  priorities text[] NOT NULL,
  -- Since when it receives events; NULL while it is not active.
  active_since timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1
);
CREATE INDEX webhooks_of_project ON webhooks (project_id, id);

-- Deliveries of events; NULL for callbacks. They have in message_id the id of their event, and in ticket_id, by which
-- deliveries are made one after the other, an id of the webhook together with what the event is about.
ALTER TABLE deliveries ADD COLUMN webhook_id uuid REFERENCES webhooks (id) ON DELETE CASCADE;
-- What the event is about: a ticket, a gap, a customer, or the webhook itself for a test.
ALTER TABLE deliveries ADD COLUMN subject_id uuid;
-- The row of ticket_events that the event is; NULL for one that is not of a ticket.
ALTER TABLE deliveries ADD COLUMN ticket_event_id bigint;
CREATE INDEX deliveries_of_webhook ON deliveries (webhook_id, place) WHERE webhook_id IS NOT NULL;
CREATE INDEX deliveries_of_subject ON deliveries (subject_id) WHERE subject_id IS NOT NULL;
-- For the deletion of old ones.
CREATE INDEX deliveries_of_events_finished ON deliveries (finished_at) WHERE webhook_id IS NOT NULL;

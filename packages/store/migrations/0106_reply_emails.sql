-- Up Migration

-- Since when the customer gets no emails; NULL: they are sent where the project sends any.
ALTER TABLE customers ADD COLUMN unsubscribed_at timestamptz;

-- Keyed hashes of addresses that get no emails of a project, whichever customer has them.
CREATE TABLE email_unsubscribes (
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  address_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, address_hash)
);

-- Keyed hash of the address of a customer that the email goes to, by which emails to one address are limited. Replies
-- have their ticket as recipient, and their own ID as source.
ALTER TABLE email_notifications ADD COLUMN address_hash text;
CREATE INDEX email_notifications_to ON email_notifications (address_hash) WHERE address_hash IS NOT NULL;

-- When customers who have left get replies by email: `{"delayMinutes", "recipients"}`; NULL: never. At the end, because
-- every message reads projects.
ALTER TABLE projects ADD COLUMN reply_emails jsonb;

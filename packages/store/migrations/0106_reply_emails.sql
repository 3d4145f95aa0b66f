-- Up Migration

-- When customers who have left get replies by email: `{"delayMinutes", "recipients"}`; NULL: never.
ALTER TABLE projects ADD COLUMN reply_emails jsonb;

-- Since when the customer gets no emails; NULL: they are sent where the project sends any.
ALTER TABLE customers ADD COLUMN unsubscribed_at timestamptz;
CREATE INDEX customers_unsubscribed ON customers (project_id) WHERE unsubscribed_at IS NOT NULL;

-- Keyed hash of the address of a customer that the email goes to, by which emails to one address are limited. Replies
-- have their ticket as recipient, and their own ID as source.
ALTER TABLE email_notifications ADD COLUMN address_hash text;
CREATE INDEX email_notifications_to ON email_notifications (address_hash) WHERE address_hash IS NOT NULL;

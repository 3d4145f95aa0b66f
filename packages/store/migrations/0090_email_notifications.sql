-- Up Migration

-- Which emails an operator gets, as `notificationSettingsSchema` of packages/contracts has them; what is absent has its
-- default.
ALTER TABLE operators ADD COLUMN notifications jsonb NOT NULL DEFAULT '{}';

-- What somebody is to be notified of by email: one row for each recipient and reason, which is sent at most once. Several
-- rows of one recipient make one email. There are no texts and no addresses here: an email is written when it is sent.
CREATE TABLE email_notifications (
  -- Who gets it: the operator.
  recipient_id uuid NOT NULL,
  -- 'assigned', 'mentioned', 'sla_breached', 'needs_review' or 'digest'.
  kind text NOT NULL,
  -- The event of the ticket, or the day of the digest.
  source text NOT NULL,
  operator_id uuid REFERENCES operators (id) ON DELETE CASCADE,
  ticket_id uuid REFERENCES tickets (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- When it can be claimed: not yet, at the next attempt, or once the lease has expired.
  next_at timestamptz NOT NULL,
  lease_id uuid,
  -- Names the email in all of its attempts; NULL before the first one.
  email_id uuid,
  attempts integer NOT NULL DEFAULT 0,
  -- Why the last attempt failed.
  failure text,
  -- 'sent', 'withdrawn' (there was no reason any more) or 'failed'; NULL until then.
  outcome text,
  finished_at timestamptz,
  PRIMARY KEY (recipient_id, kind, source)
);
CREATE INDEX email_notifications_due ON email_notifications (next_at) WHERE finished_at IS NULL;
CREATE INDEX email_notifications_of_ticket ON email_notifications (ticket_id);
-- What an operator opens is withdrawn.
CREATE INDEX email_notifications_of_operator ON email_notifications (operator_id, ticket_id);
CREATE INDEX email_notifications_finished ON email_notifications (finished_at) WHERE finished_at IS NOT NULL;

-- Up Migration

-- Browsers in which operators get push notifications. Each has its own rows in email_notifications, with its ID as recipient.
CREATE TABLE push_subscriptions (
  id uuid PRIMARY KEY,
  operator_id uuid NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
  -- Where the browser's push service accepts notifications.
  endpoint text NOT NULL UNIQUE,
  -- The browser's public key and its authentication secret (RFC 8291), base64url.
  p256dh text NOT NULL,
  auth text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX push_subscriptions_of_operator ON push_subscriptions (operator_id);

-- Keys by which push services recognize the installation (RFC 8292): `{"publicKey", "privateKey"}`, the private one sealed.
-- NULL until the first browser subscribes.
ALTER TABLE installation ADD COLUMN push_keys jsonb;

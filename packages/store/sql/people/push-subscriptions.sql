-- name: put
-- Adds a browser of an operator, unless the operator has the most that are allowed; one that was another operator's is this
-- operator's from now on, under a new ID, so that the other one's notifications are not sent to it. Locks the rows of
-- push_subscriptions that it writes.
INSERT INTO push_subscriptions (id, operator_id, endpoint, p256dh, auth)
SELECT :id::uuid, :operator_id::uuid, :endpoint::text, :p256dh::text, :auth::text
WHERE (SELECT count(*) FROM push_subscriptions WHERE operator_id = :operator_id AND endpoint <> :endpoint) < {{maxCount}}
ON CONFLICT (endpoint) DO UPDATE SET id = CASE WHEN push_subscriptions.operator_id = EXCLUDED.operator_id
    THEN push_subscriptions.id ELSE EXCLUDED.id END,
  operator_id = EXCLUDED.operator_id, p256dh = EXCLUDED.p256dh, auth = EXCLUDED.auth
RETURNING 1;

-- name: removeOf
-- Removes a browser of an operator. Locks the rows of push_subscriptions that it writes.
DELETE FROM push_subscriptions WHERE operator_id = :operator_id AND endpoint = :endpoint;

-- name: isOf
-- Whether a browser gets the notifications of this operator.
SELECT FROM push_subscriptions WHERE operator_id = :operator_id AND endpoint = :endpoint;

-- name: remove
-- Removes a browser whose subscription has ended. Locks the rows of push_subscriptions that it writes.
DELETE FROM push_subscriptions WHERE id = :id;

-- name: findDevice
-- A browser with its operator, and whether that operator had the console open a moment ago.
SELECT s.endpoint, s.p256dh, s.auth, o.notifications, o.disabled_at IS NOT NULL AS is_disabled, EXISTS (
  SELECT FROM operator_presence p WHERE p.operator_id = o.id AND p.seen_at > now() - interval '{{goneSeconds}} seconds'
) AS is_online
FROM push_subscriptions s JOIN operators o ON o.id = s.operator_id WHERE s.id = :id;

-- name: readKeys
-- The keys of the installation for push services; none until the first browser subscribes.
SELECT push_keys AS keys FROM installation WHERE push_keys IS NOT NULL;

-- name: setKeys
-- Stores the keys of the installation, unless another process has done so. Locks the row of installation that it writes.
UPDATE installation SET push_keys = :keys::jsonb WHERE push_keys IS NULL;

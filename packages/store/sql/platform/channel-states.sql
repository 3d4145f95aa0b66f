-- name: report (prepared)
-- Says how a process is doing with its channels. Locks the rows of channel_states that it writes.
INSERT INTO channel_states (replica, channel_id, state, since, error)
SELECT :replica, id, state, since, error
FROM unnest(:id::text[], :state::text[], :since::timestamptz[], :error::text[]) AS s (id, state, since, error)
ON CONFLICT (replica, channel_id) DO UPDATE SET state = excluded.state, since = excluded.since,
  error = excluded.error, reported_at = now();

-- name: forget
-- Forgets a process that has ended, and those that died without saying so. Locks the rows of channel_states that it
-- writes.
DELETE FROM channel_states WHERE replica = :replica OR reported_at < now() - interval '1 hour';

-- name: list
-- What the living processes say, by channel, the longest in its state first.
SELECT channel_id, state, since, error FROM channel_states
WHERE reported_at > now() - interval '{{reportedWithinMs}} milliseconds' ORDER BY channel_id, since;

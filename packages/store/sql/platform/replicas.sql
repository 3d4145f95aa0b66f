-- name: takeLease (prepared)
-- Takes a lease, or renews it, for so long. The writer locks the row; of two that come at once, the later
-- one sees the holder.
INSERT INTO service_leases AS l (name, holder, lease_until)
VALUES (:name, :holder, now() + :lease_ms * interval '1 millisecond')
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
WHERE l.holder = excluded.holder OR l.lease_until < now()
RETURNING 1;

-- name: releaseLease
-- Gives a lease back, so that another one need not wait for its end. Locks the rows of service_leases that it writes.
DELETE FROM service_leases WHERE name = :name AND holder = :holder;

-- name: reportState (prepared)
-- Records how replicas are doing with their channels, and reads the settings that they follow. Locks the rows of
-- channel_states that it writes.
WITH reported AS (
  INSERT INTO channel_states (replica, channel_id, state, since, error)
  SELECT replica, id, state, since, error
  FROM unnest(:replica::uuid[], :id::text[], :state::text[], :since::timestamptz[], :error::text[])
    AS s (replica, id, state, since, error)
  ON CONFLICT (replica, channel_id) DO UPDATE SET state = excluded.state, since = excluded.since,
    error = excluded.error, reported_at = now()
)
SELECT {{channelsColumns}} FROM channels_config;

-- name: forgetState
-- Forgets a process that has ended, and those that died without saying so. Locks the rows of channel_states that it
-- writes.
DELETE FROM channel_states WHERE replica = :replica OR reported_at < now() - interval '1 hour';

-- name: listStates
-- What the living processes say, by channel, the longest in its state first.
SELECT channel_id, state, since, error FROM channel_states
WHERE reported_at > now() - interval '{{reportedWithinMs}} milliseconds' ORDER BY channel_id, since;

-- name: beatInstance (prepared)
-- Says that a process lives: for another 4 s. Locks the rows of instances that it writes.
INSERT INTO instances (id, app, alive_until) VALUES (:id, :app, now() + interval '{{aliveMs}} milliseconds')
ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until, alive_since =
  CASE WHEN instances.alive_until < excluded.alive_until - interval '{{gapMs}} milliseconds' THEN now()
  ELSE instances.alive_since END;

-- name: endInstance
-- Says that a process is gone, and forgets those that died more than a day ago. Locks the rows of instances that it
-- writes.
DELETE FROM instances WHERE id = :id OR alive_until < now() - interval '1 day';

-- name: countAlive
-- How many processes of an app are alive.
SELECT count(*) AS count FROM instances WHERE app = :app AND alive_until > now();

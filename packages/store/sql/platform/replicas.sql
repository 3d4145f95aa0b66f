-- name: takeLease (prepared)
-- Acquires or renews a lease. The row lock serializes concurrent calls; the later one finds the holder.
INSERT INTO service_leases AS l (name, holder, lease_until)
VALUES (:name, :holder, now() + :lease_ms * interval '1 millisecond')
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
WHERE l.holder = excluded.holder OR l.lease_until < now()
RETURNING 1;

-- name: releaseLease
-- Releases a lease, so that another process can acquire it at once. Locks the rows of service_leases that it writes.
DELETE FROM service_leases WHERE name = :name AND holder = :holder;

-- name: reportState (prepared)
-- Reports the state of a process's channels, and its number of open widget sockets. If the total of all processes is a
-- new maximum for the widget's project today, it is stored. Returns the settings that the channels follow. Locks the
-- rows of channel_states and usage_days that it writes.
WITH given AS (
  SELECT * FROM unnest(:id::text[], :state::text[], :since::timestamptz[], :error::text[], :sockets::integer[])
    AS s (id, state, since, error, sockets)
), open AS (
  SELECT p.id AS project_id, g.sockets + coalesce((
    SELECT sum(c.sockets) FROM channel_states c
    WHERE c.channel_id = 'widget' AND c.replica <> :replica
      AND c.reported_at > now() - interval '{{reportedWithinMs}} milliseconds'
  ), 0) AS sockets
  FROM given g CROSS JOIN channels_config w
  JOIN projects p ON p.name = coalesce(w.widget #>> '{config,project}', '{{defaultProject}}')
  WHERE g.id = 'widget' AND g.sockets > 0
), peak AS (
  INSERT INTO usage_days AS u (project_id, day, sockets)
  SELECT project_id, (now() AT TIME ZONE 'UTC')::date, sockets FROM open o WHERE NOT EXISTS (
    SELECT FROM usage_days d WHERE d.project_id = o.project_id AND d.day = (now() AT TIME ZONE 'UTC')::date
      AND d.sockets >= o.sockets)
  ON CONFLICT (project_id, day) DO UPDATE SET sockets = greatest(u.sockets, excluded.sockets)
), reported AS (
  INSERT INTO channel_states (replica, channel_id, state, since, error, sockets)
  SELECT :replica, id, state, since, error, sockets FROM given
  ON CONFLICT (replica, channel_id) DO UPDATE SET state = excluded.state, since = excluded.since,
    error = excluded.error, sockets = excluded.sockets, reported_at = now()
)
SELECT {{channelsColumns}} FROM channels_config;

-- name: forgetState
-- Deletes stopped channels of a process, and those of crashed processes. Locks the rows of channel_states that it
-- writes.
DELETE FROM channel_states WHERE replica = :replica AND channel_id = ANY (:ids::text[]) OR reported_at < now() - interval '1 hour';

-- name: listStates
-- The channel states of running processes, by channel, the longest in its state first.
SELECT channel_id, state, since, error FROM channel_states
WHERE reported_at > now() - interval '{{reportedWithinMs}} milliseconds' ORDER BY channel_id, since;

-- name: beatInstance (prepared)
-- Records a heartbeat of a process, valid for 4 s. Locks the rows of instances that it writes.
INSERT INTO instances (id, app, alive_until) VALUES (:id, :app, now() + interval '{{aliveMs}} milliseconds')
ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until, alive_since =
  CASE WHEN instances.alive_until < excluded.alive_until - interval '{{gapMs}} milliseconds' THEN now()
  ELSE instances.alive_since END;

-- name: endInstance
-- Deletes a stopped process, and those that crashed more than a day ago. Locks the rows of instances that it writes.
DELETE FROM instances WHERE id = :id OR alive_until < now() - interval '1 day';

-- name: countAlive
-- Counts the running processes of an app.
SELECT count(*) AS count FROM instances WHERE app = :app AND alive_until > now();

-- name: claimLease (prepared)
-- Acquires or renews a lease. The row lock serializes concurrent calls; the later one finds the holder. Its commit waits
-- for the disk, unlike others on its connections: after a crash of the database, another process must find the holder. A
-- process that waits for the lease writes nothing.
INSERT INTO service_leases AS l (name, holder, lease_until)
SELECT :name, :holder::uuid, now() + :lease_ms * interval '1 millisecond'
FROM (SELECT set_config('synchronous_commit', 'on', true)) durable
WHERE NOT EXISTS (
  SELECT FROM service_leases WHERE name = :name AND holder <> :holder::uuid AND lease_until >= now()
)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
WHERE l.holder = excluded.holder OR l.lease_until < now()
RETURNING 1;

-- name: releaseLease
-- Releases a lease, so that another process can acquire it at once. Locks the rows of service_leases that it writes.
DELETE FROM service_leases WHERE name = :name AND holder = :holder;

-- name: removeState
-- Deletes stopped channels of a process, and those of crashed processes. Locks the rows of channel_states that it
-- writes.
DELETE FROM channel_states WHERE replica = :replica AND channel_id = ANY (:ids::text[]) OR reported_at < now() - interval '1 hour';

-- name: listStates
-- The channel states of running processes, by channel, the longest in its state first.
SELECT channel_id, state, since, error FROM channel_states
WHERE reported_at > now() - interval '{{reportedWithinMs}} milliseconds' ORDER BY channel_id, since;

-- name: endInstance
-- Deletes a stopped process, and those that crashed more than a day ago. Locks the rows of instances that it writes.
DELETE FROM instances WHERE id = :id OR alive_until < now() - interval '1 day';

-- name: countAlive
-- Counts the running processes of an app.
SELECT count(*) AS count FROM instances WHERE app = :app AND alive_until > now();

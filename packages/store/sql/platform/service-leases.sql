-- name: take (prepared)
-- Takes a lease, or renews it, for so long. The row is locked by whoever writes it; of two that come at once, the later
-- one sees the holder.
INSERT INTO service_leases AS l (name, holder, lease_until)
VALUES (:name, :holder, now() + :lease_ms * interval '1 millisecond')
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
WHERE l.holder = excluded.holder OR l.lease_until < now()
RETURNING 1;

-- name: release
-- Gives a lease back, so that another one need not wait for its end. Locks the rows of service_leases that it writes.
DELETE FROM service_leases WHERE name = :name AND holder = :holder;

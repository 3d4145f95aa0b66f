-- name: beat (prepared)
-- Says that a process lives: for another 4 s. Locks the rows of instances that it writes.
INSERT INTO instances (id, app, alive_until) VALUES (:id, :app, now() + interval '{{aliveMs}} milliseconds')
ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until, alive_since =
  CASE WHEN instances.alive_until < excluded.alive_until - interval '{{gapMs}} milliseconds' THEN now()
  ELSE instances.alive_since END;

-- name: end
-- Says that a process is gone, and forgets those that died more than a day ago. Locks the rows of instances that it
-- writes.
DELETE FROM instances WHERE id = :id OR alive_until < now() - interval '1 day';

-- name: countAlive
-- How many processes of an app are alive.
SELECT count(*) AS count FROM instances WHERE app = :app AND alive_until > now();

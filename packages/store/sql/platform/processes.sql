-- fragment: is_forgotten
heard_at < now() - interval '1 day'

-- fragment: columns
app, host, pid, started_at AS "startedAt", heard_at AS "heardAt", memory_bytes AS "memoryBytes",
memory_limit_bytes AS "memoryLimitBytes"

-- fragment: is_silent
heard_at < now() - interval '{{silentMs}} milliseconds'

-- name: beat (prepared)
-- Records a heartbeat of this process, and its memory. Returns other processes whose heartbeat is overdue and that have
-- not been reported as vanished. Locks the rows of processes that it writes.
WITH beat AS (
  INSERT INTO processes (id, app, host, pid, memory_bytes, memory_limit_bytes) VALUES (:own_id, :app, :host, :pid,
    :memory_bytes, :memory_limit_bytes)
  ON CONFLICT (id) DO UPDATE SET heard_at = now(), memory_bytes = excluded.memory_bytes, told_at = NULL
)
SELECT id, host, pid, {{is_silent}} AS has_vanished FROM processes
WHERE id <> :own_id AND told_at IS NULL AND heard_at < now() - interval '{{lateMs}} milliseconds'
  AND NOT {{is_forgotten}};

-- name: end
-- Deletes this process, and those that vanished more than a day ago. Locks the rows of processes that it writes.
DELETE FROM processes WHERE id = :own_id OR {{is_forgotten}};

-- name: crash
-- Records that an unexpected error ends this process, and records a crash for the messages that it is processing: those
-- that do not finish before it ends are released, and could cause it again. Locks the rows of processes, messages that
-- it writes.
WITH crashed AS (
  UPDATE processes SET crashed_at = now() WHERE id = :own_id
), held AS (
  SELECT c.ticket_id, {{expiredLease}} AS lease FROM chats c
  WHERE c.lease_holder = :own_id AND c.lease_id IS NOT NULL AND c.lease_until > now() AND c.review_id IS NULL
)
UPDATE messages m SET expired_leases = coalesce(m.expired_leases || held.lease, held.lease)
FROM held WHERE m.id = (SELECT id FROM messages WHERE ticket_id = held.ticket_id AND state = 'received'
  ORDER BY seq LIMIT 1);

-- name: takeMissing
-- Records that these processes have vanished, whose ids no longer exist on the host. Locks the rows of processes that
-- it writes.
UPDATE processes SET told_at = now() WHERE id = ANY (:ids::uuid[]) AND told_at IS NULL
  AND heard_at < now() - interval '{{lateMs}} milliseconds'
RETURNING {{columns}};

-- name: takeVanished
-- The processes that have vanished, each reported to one caller only: those of its own app after 30 s, the others
-- after two minutes. Locks the rows of processes that it writes.
UPDATE processes SET told_at = now()
WHERE told_at IS NULL AND {{is_silent}} AND NOT {{is_forgotten}}
  AND (app = :app OR heard_at < now() - interval '{{toldByOthersMs}} milliseconds')
RETURNING {{columns}};

-- name: listVanished
-- All processes that vanished within a day, reported or not, the last one first.
SELECT {{columns}} FROM processes WHERE {{is_silent}} AND NOT {{is_forgotten}} ORDER BY heard_at DESC LIMIT 1000;

-- name: countRunning
-- Counts the running processes of each app, and those on other hosts.
SELECT app, count(*) AS count, count(*) FILTER (WHERE host <> :host) AS elsewhere
FROM processes WHERE NOT {{is_silent}} GROUP BY app ORDER BY app;

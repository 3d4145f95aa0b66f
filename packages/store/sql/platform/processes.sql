-- fragment: is_forgotten
heard_at < now() - interval '1 day'

-- fragment: columns
app, host, pid, started_at AS "startedAt", heard_at AS "heardAt", memory_bytes AS "memoryBytes",
memory_limit_bytes AS "memoryLimitBytes"

-- fragment: is_silent
heard_at < now() - interval '{{silentMs}} milliseconds'

-- name: beat (prepared)
-- Records what a process reports of itself: its heartbeat and its memory if an app is given, the state of its channels
-- with its number of open widget sockets, and heartbeats of processes that hold calls. If the total of all sockets is a
-- new maximum for the widget's project today, it is stored. Returns the settings that the channels follow, and with an
-- app also the other processes whose heartbeat is overdue and that have not been reported as vanished. Locks the rows of
-- processes, channel_states, instances and usage_days that it writes.
WITH given AS (
  SELECT * FROM unnest(:id::text[], :state::text[], :since::timestamptz[], :error::text[], :sockets::integer[])
    AS s (id, state, since, error, sockets)
), open AS (
  SELECT p.id AS project_id, g.sockets + coalesce((
    SELECT sum(c.sockets) FROM channel_states c
    WHERE c.channel_id = 'widget' AND c.replica <> :own_id
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
  SELECT :own_id, id, state, since, error, sockets FROM given
  ON CONFLICT (replica, channel_id) DO UPDATE SET state = excluded.state, since = excluded.since,
    error = excluded.error, sockets = excluded.sockets, reported_at = now()
), instance AS (
  INSERT INTO instances (id, app, alive_until)
  SELECT id, app, now() + interval '{{aliveMs}} milliseconds'
  FROM unnest(:instance_id::uuid[], :instance_app::text[]) AS i (id, app)
  ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until, alive_since =
    CASE WHEN instances.alive_until < excluded.alive_until - interval '{{gapMs}} milliseconds' THEN now()
    ELSE instances.alive_since END
), process AS (
  INSERT INTO processes (id, app, host, pid, memory_bytes, memory_limit_bytes)
  SELECT :own_id, :app::text, :host, :pid, :memory_bytes, :memory_limit_bytes WHERE :app::text IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET heard_at = now(), memory_bytes = excluded.memory_bytes, told_at = NULL
)
SELECT {{channelsColumns}}, (
  SELECT json_agg(json_build_object('id', id, 'host', host, 'pid', pid, 'hasVanished', {{is_silent}})) FROM processes
  WHERE :app::text IS NOT NULL AND id <> :own_id AND told_at IS NULL
    AND heard_at < now() - interval '{{lateMs}} milliseconds' AND NOT {{is_forgotten}}
) AS silent
FROM channels_config;

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

-- name: recordVanished
-- Records that these processes have vanished, whose ids no longer exist on the host. Locks the rows of processes that
-- it writes.
UPDATE processes SET told_at = now() WHERE id = ANY (:ids::uuid[]) AND told_at IS NULL
  AND heard_at < now() - interval '{{lateMs}} milliseconds'
RETURNING {{columns}};

-- name: claimVanished
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

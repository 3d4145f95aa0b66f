-- All statements are read-only, in the transaction of `stats`. Tickets belong to the project that works on them. Events
-- and ratings belong to the project that their ticket came in to; those of tickets from elsewhere are found by ticket.

-- fragment: tickets
l.project_id = :project AND (:channel_id::text IS NULL OR l.channel_id = :channel_id)
  AND (:agent_id::uuid IS NULL OR l.agent_id = :agent_id)

-- fragment: foreign_tickets
SELECT ticket_id FROM ticket_list WHERE project_id = :project AND foreign_chat_id IS NOT NULL

-- fragment: replying
'approve', 'edit', 'reply'

-- fragment: begun
l.created_us >= (extract(epoch FROM :from::timestamptz) * 1000000)::bigint
  AND l.created_us < (extract(epoch FROM :to::timestamptz) * 1000000)::bigint

-- fragment: decision
-- Every reply and every resolution has the step `reject`: it rejects something only if a draft waits for a decision. A text
-- in place of an empty draft is a reply, and edits nothing.
SELECT e.id, e.ticket_id, e.at, e.actor,
  CASE WHEN e.data ->> 'decision' = 'edit' AND e.data ->> 'draft' = '' THEN 'reply' ELSE e.data ->> 'decision' END AS decision,
  e.data ->> 'target' AS target,
  e.answer_step = 'reject' AND 'held' = (
    SELECT s.answer_step FROM ticket_events s
    WHERE s.ticket_id = e.ticket_id AND s.id < e.id AND s.answer_step IS NOT NULL ORDER BY s.id DESC LIMIT 1
  ) AS rejects
FROM ticket_events e

-- fragment: decisions
-- What people decided in the span, and the breaches of SLA targets. The partial index leads to these events alone.
{{decision}} WHERE project_id = :project AND at >= :from AND at < :to AND data ? 'decision'
UNION ALL
{{decision}} WHERE ticket_id IN ({{foreign_tickets}}) AND project_id <> :project AND at >= :from AND at < :to
  AND data ? 'decision'

-- fragment: people
-- Who replied first to a ticket, and who replied or resolved last.
SELECT ticket_id, min(at) FILTER (WHERE decision IN ({{replying}})) AS first_at,
  (array_agg(actor ORDER BY id) FILTER (WHERE decision IN ({{replying}})))[1] AS first_actor,
  (array_agg(actor ORDER BY id DESC) FILTER (WHERE decision IN ({{replying}}, 'resolve')))[1] AS last_actor,
  bool_or(decision IN ({{replying}}, 'reject')) AS takes_part
FROM decisions GROUP BY ticket_id

-- fragment: run
actor = 'pipeline' AND message_id IS NOT NULL AND NOT data ? 'review'

-- fragment: message
SELECT id, ticket_id, message_id, at, data #>> '{gate,sends}' AS sends, data #>> '{gate,rejects}' AS rejects
FROM ticket_events

-- fragment: messages
-- Runs of the pipeline, one per message: the last one counts, as in the other statistics. Tickets are joined earlier,
-- while PostgreSQL can still estimate that there are many.
SELECT DISTINCT ON (r.message_id) r.at, l.channel_id, l.agent_id,
  CASE WHEN r.sends = 'true' THEN 'automatic' WHEN r.sends = 'false' AND r.rejects IS DISTINCT FROM 'true' THEN 'handoff' END
    AS outcome
FROM (
  {{message}} WHERE project_id = :project AND at >= :from AND at < :to AND {{run}}
  UNION ALL
  {{message}} WHERE ticket_id IN ({{foreign_tickets}}) AND project_id <> :project AND at >= :from AND at < :to AND {{run}}
) r JOIN ticket_list l ON l.ticket_id = r.ticket_id WHERE {{tickets}} ORDER BY r.message_id, r.id DESC

-- fragment: rating
SELECT ticket_id, score, comment, rated_at FROM visitors

-- fragment: ratings
-- Ratings of the span, with who replied last before each.
SELECT v.ticket_id, v.score, v.comment, v.rated_at AS at, r.operator
FROM (
  {{rating}} WHERE project_id = :project AND score IS NOT NULL AND rated_at >= :from AND rated_at < :to
  UNION ALL
  {{rating}} WHERE ticket_id IN ({{foreign_tickets}}) AND project_id <> :project AND score IS NOT NULL
    AND rated_at >= :from AND rated_at < :to
) v LEFT JOIN LATERAL (
  SELECT e.actor AS operator FROM ticket_events e
  WHERE e.ticket_id = v.ticket_id AND e.at <= v.rated_at AND e.data ->> 'decision' IN ({{replying}})
  ORDER BY e.id DESC LIMIT 1
) r ON true

-- fragment: groups
grouping(f.channel_id, f.agent_id, f.operator, f.point, f.hour, f.weekday) AS grouped,
  concat(f.channel_id, f.agent_id, f.operator, f.point, f.hour, f.weekday) AS key

-- fragment: grouping
GROUP BY GROUPING SETS ((), (f.channel_id), (f.agent_id), (f.operator), (f.point), (f.hour), (f.weekday))

-- fragment: time_parts
(extract(epoch FROM date_trunc(:unit::text, f.at, :time_zone::text)) * 1000)::bigint AS point,
  extract(hour FROM f.at AT TIME ZONE :time_zone)::int AS hour,
  extract(isodow FROM f.at AT TIME ZONE :time_zone)::int AS weekday

-- name: counts
-- Counts what happened in the span, in total and by each group. Time zones are evaluated per quarter hour only, since
-- hours start at a quarter hour in all of them.
WITH decisions AS MATERIALIZED ({{decisions}}), people AS ({{people}}), facts AS (
  SELECT 'conversation' AS fact, CASE
      WHEN t.first_reply_at < :to AND t.status <> 'spam' AND l.stage NOT IN ('review', 'failed')
        AND p.takes_part IS NOT TRUE THEN 'selfService'
    END AS detail, l.channel_id, l.agent_id, NULL AS operator, t.created_at AS at
  FROM ticket_list l JOIN tickets t ON t.id = l.ticket_id LEFT JOIN people p ON p.ticket_id = l.ticket_id
  WHERE {{begun}} AND {{tickets}}
  UNION ALL
  SELECT 'message', m.outcome, m.channel_id, m.agent_id, NULL, m.at FROM ({{messages}}) m
  UNION ALL
  SELECT 'decision', d.decision, l.channel_id, l.agent_id, d.actor, d.at
  FROM decisions d JOIN ticket_list l ON l.ticket_id = d.ticket_id
  WHERE {{tickets}} AND d.decision IN ({{replying}})
  UNION ALL
  SELECT 'rejection', NULL, l.channel_id, l.agent_id, d.actor, d.at
  FROM decisions d JOIN ticket_list l ON l.ticket_id = d.ticket_id
  WHERE {{tickets}} AND d.rejects
  UNION ALL
  SELECT 'breach', d.target, l.channel_id, l.agent_id, l.assignee, d.at
  FROM decisions d JOIN ticket_list l ON l.ticket_id = d.ticket_id
  WHERE {{tickets}} AND d.decision = 'sla_breached'
  UNION ALL
  SELECT 'rating', CASE WHEN r.score >= {{goodRatingMinScore}} THEN 'good' WHEN r.score <= {{badRatingMaxScore}} THEN 'bad' END,
    l.channel_id, l.agent_id, r.operator, r.at
  FROM ({{ratings}}) r JOIN ticket_list l ON l.ticket_id = r.ticket_id WHERE {{tickets}}
)
SELECT {{groups}},
  coalesce(sum(n) FILTER (WHERE fact = 'conversation'), 0)::int AS conversations,
  coalesce(sum(n) FILTER (WHERE fact = 'conversation' AND detail = 'selfService'), 0)::int AS self_service,
  coalesce(sum(n) FILTER (WHERE fact = 'message'), 0)::int AS messages,
  coalesce(sum(n) FILTER (WHERE fact = 'message' AND detail = 'automatic'), 0)::int AS automatic,
  coalesce(sum(n) FILTER (WHERE fact = 'message' AND detail = 'handoff'), 0)::int AS handoffs,
  coalesce(sum(n) FILTER (WHERE fact = 'decision'), 0)::int AS replies,
  coalesce(sum(n) FILTER (WHERE fact = 'decision' AND detail = 'approve'), 0)::int AS approvals,
  coalesce(sum(n) FILTER (WHERE fact = 'decision' AND detail = 'edit'), 0)::int AS edits,
  coalesce(sum(n) FILTER (WHERE fact = 'rejection'), 0)::int AS rejections,
  coalesce(sum(n) FILTER (WHERE fact = 'rating'), 0)::int AS ratings,
  coalesce(sum(n) FILTER (WHERE fact = 'rating' AND detail = 'good'), 0)::int AS good_ratings,
  coalesce(sum(n) FILTER (WHERE fact = 'rating' AND detail = 'bad'), 0)::int AS bad_ratings,
  coalesce(sum(n) FILTER (WHERE fact = 'breach' AND detail = 'first_reply'), 0)::int AS first_reply_breaches,
  coalesce(sum(n) FILTER (WHERE fact = 'breach' AND detail = 'next_reply'), 0)::int AS next_reply_breaches,
  coalesce(sum(n) FILTER (WHERE fact = 'breach' AND detail = 'resolution'), 0)::int AS resolution_breaches
FROM (
  SELECT f.*, {{time_parts}}
  FROM (
    SELECT fact, detail, channel_id, agent_id, operator, date_bin('15 minutes', at, '2000-01-01Z') AS at, count(*) AS n
    FROM facts GROUP BY 1, 2, 3, 4, 5, 6
  ) f
) f
{{grouping}};

-- name: times
-- Times to the first reply of tickets that were created in the span, to that of a person from the first message that
-- waited for one, and to the resolution of tickets that were resolved in it. Business time is passed as its periods:
-- their starts, their lengths, and the business time before each, in milliseconds. The business time of a wait is the
-- total at its end minus the total at its start, each found by binary search.
WITH decisions AS MATERIALIZED ({{decisions}}), people AS ({{people}}), facts AS (
  SELECT 'firstReply' AS fact, l.channel_id, l.agent_id,
    CASE WHEN p.first_at <= t.first_reply_at THEN p.first_actor END AS operator,
    coalesce(m.created_at, t.created_at) AS at, coalesce(m.created_at, t.created_at) AS started_at,
    t.first_reply_at AS ended_at
  FROM ticket_list l JOIN tickets t ON t.id = l.ticket_id AND t.first_reply_at IS NOT NULL
  LEFT JOIN people p ON p.ticket_id = l.ticket_id
  LEFT JOIN LATERAL (SELECT created_at FROM messages WHERE ticket_id = t.id ORDER BY seq LIMIT 1) m ON true
  WHERE {{begun}} AND {{tickets}} AND t.first_reply_at < :to
  UNION ALL
  SELECT 'teamReply', l.channel_id, l.agent_id, p.first_actor, coalesce(m.created_at, t.created_at),
    coalesce(m.created_at, t.created_at), p.first_at
  FROM ticket_list l JOIN tickets t ON t.id = l.ticket_id JOIN people p ON p.ticket_id = l.ticket_id
  LEFT JOIN LATERAL (
    SELECT created_at FROM messages WHERE ticket_id = t.id AND covered_by IS NOT NULL ORDER BY seq LIMIT 1
  ) m ON true
  WHERE {{begun}} AND {{tickets}} AND p.first_at IS NOT NULL
  UNION ALL
  SELECT 'resolution', l.channel_id, l.agent_id, p.last_actor, t.resolved_at, t.created_at, t.resolved_at
  FROM tickets t JOIN ticket_list l ON l.ticket_id = t.id LEFT JOIN people p ON p.ticket_id = t.id
  WHERE t.project_id = :project AND t.status = 'resolved' AND t.resolved_at >= :from AND t.resolved_at < :to AND {{tickets}}
), waits AS (
  SELECT f.*, extract(epoch FROM f.started_at)::float8 * 1000 AS start_ms,
    extract(epoch FROM f.ended_at)::float8 * 1000 AS end_ms
  FROM facts f
), timed AS (
  SELECT f.fact, f.channel_id, f.agent_id, f.operator, f.at, greatest(0,
      CASE WHEN b.ended = 0 THEN 0 ELSE (:before_ms::float8[])[b.ended]
        + least(f.end_ms - (:starts_ms::float8[])[b.ended], (:lengths_ms::float8[])[b.ended]) END
      - CASE WHEN b.started = 0 THEN 0 ELSE (:before_ms::float8[])[b.started]
        + least(f.start_ms - (:starts_ms::float8[])[b.started], (:lengths_ms::float8[])[b.started]) END
    )::bigint AS waited_ms
  FROM waits f CROSS JOIN LATERAL (
    SELECT width_bucket(f.start_ms, :starts_ms::float8[]) AS started, width_bucket(f.end_ms, :starts_ms::float8[]) AS ended
  ) b
)
SELECT {{groups}},
  count(*) FILTER (WHERE f.fact = 'resolution') AS resolved,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY f.waited_ms) FILTER (WHERE f.fact = 'firstReply') AS first_reply_p50_ms,
  percentile_disc(0.9) WITHIN GROUP (ORDER BY f.waited_ms) FILTER (WHERE f.fact = 'firstReply') AS first_reply_p90_ms,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY f.waited_ms) FILTER (WHERE f.fact = 'teamReply') AS team_reply_p50_ms,
  percentile_disc(0.9) WITHIN GROUP (ORDER BY f.waited_ms) FILTER (WHERE f.fact = 'teamReply') AS team_reply_p90_ms,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY f.waited_ms) FILTER (WHERE f.fact = 'resolution') AS resolution_p50_ms,
  percentile_disc(0.9) WITHIN GROUP (ORDER BY f.waited_ms) FILTER (WHERE f.fact = 'resolution') AS resolution_p90_ms
FROM (SELECT f.*, {{time_parts}} FROM timed f) f
{{grouping}};

-- name: signals
-- Ratings and breaches of the span that need attention. Both are few, and have their own indexes.
WITH decisions AS ({{decisions}})
SELECT count(*) FILTER (WHERE f.fact = 'rating') AS ratings,
  count(*) FILTER (WHERE f.fact = 'rating' AND f.score <= {{badRatingMaxScore}}) AS bad_ratings,
  count(*) FILTER (WHERE f.target = 'first_reply') AS first_reply_breaches,
  count(*) FILTER (WHERE f.target = 'next_reply') AS next_reply_breaches,
  count(*) FILTER (WHERE f.target = 'resolution') AS resolution_breaches
FROM (
  SELECT 'rating' AS fact, ticket_id, score, NULL AS target FROM ({{ratings}}) r
  UNION ALL
  SELECT 'breach', ticket_id, NULL, target FROM decisions WHERE decision = 'sla_breached'
) f JOIN ticket_list l ON l.ticket_id = f.ticket_id WHERE {{tickets}};

-- name: backlog
-- Tickets that wait for a person now, by waiting time: from the oldest message without an answer.
SELECT width_bucket(extract(epoch FROM now() - w.since)::float8 / 3600, :bounds_hours::float8[]) AS bucket,
  count(*) AS tickets, count(*) FILTER (WHERE w.assignee IS NULL) AS unassigned,
  count(*) FILTER (WHERE w.is_snoozed) AS snoozed
FROM (
  SELECT l.assignee, l.is_snoozed, coalesce(m.created_at, to_timestamp(l.updated_us / 1000000.0)) AS since
  FROM ticket_list l LEFT JOIN LATERAL (
    SELECT created_at FROM messages
    WHERE ticket_id = l.ticket_id AND state IN ('held', 'failed') AND covered_by IS NULL ORDER BY seq LIMIT 1
  ) m ON true
  WHERE l.stage IN ('review', 'failed') AND l.status NOT IN ('resolved', 'spam') AND {{tickets}}
) w GROUP BY bucket;

-- name: listRatings
-- The newest ratings of the span, with or without those that have no comment.
SELECT r.ticket_id, r.at, r.score, r.comment, l.channel_id, l.agent_id, r.operator
FROM ({{ratings}}) r JOIN ticket_list l ON l.ticket_id = r.ticket_id
WHERE {{tickets}} AND (NOT :has_comment::boolean OR r.comment IS NOT NULL)
ORDER BY r.at DESC, r.ticket_id LIMIT :limit;

-- fragment: steps
-- The steps of the project's tickets from the beginning of the span on, each with the next two of its ticket. An answer
-- that another one replaced before a person decided does not count; nor does a decision that was undone before another
-- one. Steps belong to the project that their ticket came in to; those of tickets from elsewhere are found by ticket,
-- as in the other statistics. The index on steps covers all columns.
SELECT id, ticket_id, at, answer_step AS step, answer_confidence AS confidence, answer_agent_id AS agent_id
FROM ticket_events

-- name: buckets
-- Counts the outcomes of agents' answers, by agent and whole percent of confidence.
WITH steps AS (
  SELECT s.*, lead(s.step) OVER w AS next, lead(s.step, 2) OVER w AS after_next
  FROM (
    {{steps}} WHERE project_id = :project AND at >= :from AND answer_step IS NOT NULL
    UNION ALL
    {{steps}}
    WHERE ticket_id IN (SELECT ticket_id FROM ticket_list WHERE project_id = :project AND foreign_chat_id IS NOT NULL)
      AND project_id <> :project AND at >= :from AND answer_step IS NOT NULL
  ) s
  JOIN ticket_list l ON l.ticket_id = s.ticket_id AND l.project_id = :project AND (:channel_id::text IS NULL
    OR l.channel_id = :channel_id)
  WINDOW w AS (PARTITION BY s.ticket_id ORDER BY s.id)
), answers AS (
  SELECT agent_id, step, floor(confidence::float8 * 100 + 1e-4)::int AS percent,
    CASE
      WHEN step = 'sent' THEN CASE WHEN next IN ('person', 'badRating') THEN next ELSE 'approve' END
      WHEN next = 'reject' AND after_next IN ('approve', 'edit') THEN after_next
      WHEN next IN ('approve', 'edit') AND after_next IN ('person', 'badRating') THEN after_next
      WHEN next IN ('approve', 'edit', 'reject') THEN next
      ELSE 'undecided'
    END AS outcome
  FROM steps
  WHERE step IN ('sent', 'held') AND at < :to AND (:agent_id::uuid IS NULL OR agent_id = :agent_id)
    AND NOT (step = 'held' AND coalesce(next, '') IN ('sent', 'held'))
)
SELECT agent_id, percent, count(*) AS answers,
  count(*) FILTER (WHERE step = 'sent') AS automatic,
  count(*) FILTER (WHERE outcome = 'approve') AS accepted,
  count(*) FILTER (WHERE outcome = 'edit') AS edited,
  count(*) FILTER (WHERE outcome = 'person') AS "askedPerson",
  count(*) FILTER (WHERE outcome = 'badRating') AS "ratedBadly",
  count(*) FILTER (WHERE outcome = 'reject') AS rejected,
  count(*) FILTER (WHERE outcome = 'undecided') AS undecided
FROM answers GROUP BY agent_id, percent ORDER BY agent_id, percent;

-- name: listAnsweringAgents
-- The agents of the project that have these ids.
SELECT id, name, review_policy, auto_threshold FROM agents WHERE project_id = :project AND id = ANY (:ids::uuid[]);

-- All statements are read-only. They run in one transaction with one snapshot.

-- name: setSnapshot
-- Makes all statements of the transaction use one snapshot.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- name: setTimeout
-- PostgreSQL cancels statements that take too long: their caller has received an error by then.
SET LOCAL statement_timeout = '{{statementLimitSeconds}}s';

-- name: setMemory
-- Enough to sort and join the answers of 100,000 tickets without files; PostgreSQL's default is 4 MB. A process
-- computes one set of statistics at a time, so that this memory is used once.
SET LOCAL work_mem = '64MB';

-- name: listAgents
-- Names of agents of the project.
SELECT id, name FROM agents WHERE project_id = :project AND id = ANY (:ids::uuid[]);

-- name: hours
-- Start times of the hours of a span. Hours have equal lengths; days and weeks follow the local calendar, where some
-- are an hour longer or shorter.
SELECT at FROM generate_series(
  date_trunc('hour', :from::timestamptz, :time_zone::text), :to::timestamptz - interval '1 microsecond',
    interval '1 hour') at;

-- name: days
-- Start times of the days of a span.
SELECT local AT TIME ZONE :time_zone::text AS at FROM generate_series(
  date_trunc('day', :from::timestamptz AT TIME ZONE :time_zone::text),
  (:to::timestamptz - interval '1 microsecond') AT TIME ZONE :time_zone::text, interval '1 day') local;

-- name: weeks
-- Start times of the weeks of a span.
SELECT local AT TIME ZONE :time_zone::text AS at FROM generate_series(
  date_trunc('week', :from::timestamptz AT TIME ZONE :time_zone::text),
  (:to::timestamptz - interval '1 microsecond') AT TIME ZONE :time_zone::text, interval '1 week') local;

-- name: messages
-- Length of a queue of the project, when its oldest message became due, and the failed messages. Counts stop at the
-- limit; the indexes of waiting and failed messages are used.
SELECT (SELECT count(*)::int FROM (
    SELECT FROM messages WHERE state = 'received'
      AND project_id = :project LIMIT {{queueMaxCount}}) counted) AS waiting,
  (SELECT min(greatest(created_at, not_before)) FROM messages
   WHERE state = 'received' AND project_id = :project AND coalesce(not_before, created_at) <= now()) AS oldest,
  (SELECT count(*)::int FROM (
    SELECT FROM messages WHERE state = 'failed' AND project_id = :project AND covered_by IS NULL
    LIMIT {{queueMaxCount}}) counted) AS failed;

-- name: replies
-- As `messages`, of replies.
SELECT (SELECT count(*)::int FROM (
    SELECT FROM outboxes WHERE settled_seq < wanted_seq
      AND project_id = :project LIMIT {{queueMaxCount}}) counted) AS waiting,
  (SELECT min(next_at) FROM outboxes
   WHERE settled_seq < wanted_seq AND project_id = :project AND next_at <= now()) AS oldest,
  (SELECT count(*)::int FROM (
    SELECT FROM replies WHERE is_dead AND project_id = :project LIMIT {{queueMaxCount}}) counted) AS failed;

-- name: callbacks
-- As `messages`, of callbacks.
SELECT (SELECT count(*)::int FROM (
    SELECT FROM deliveries WHERE state = 'pending'
      AND project_id = :project LIMIT {{queueMaxCount}}) counted) AS waiting,
  (SELECT min(greatest(created_at, next_at)) FROM deliveries
   WHERE state = 'pending' AND project_id = :project AND next_at <= now()) AS oldest,
  (SELECT count(*)::int FROM (
    SELECT FROM deliveries WHERE state = 'dead' AND project_id = :project LIMIT {{queueMaxCount}}) counted) AS failed;

-- name: documents
-- As `messages`, of documents.
SELECT (SELECT count(*)::int FROM (
    SELECT FROM ingests WHERE project_id = :project LIMIT {{queueMaxCount}}) counted) AS waiting,
  (SELECT min(greatest(created_at, next_at)) FROM ingests WHERE project_id = :project AND next_at <= now()) AS oldest,
  (SELECT count(*)::int FROM (
    SELECT FROM documents d JOIN kbs k ON k.id = d.kb_id AND k.project_id = :project AND k.deleted_at IS NULL
    WHERE d.status = 'failed' LIMIT {{queueMaxCount}}) counted) AS failed;

-- fragment: tickets
l.project_id = :project AND (:channel_id::text IS NULL OR l.channel_id = :channel_id)
  AND (:agent_id::uuid IS NULL OR l.agent_id = :agent_id)

-- fragment: groups
grouping(l.channel_id) = 0 AS is_channel, grouping(l.agent_id) = 0 AS is_agent,
grouping(l.point) = 0 AS is_point, l.point, l.channel_id, l.agent_id

-- fragment: grouping
GROUP BY GROUPING SETS ((), (l.channel_id), (l.agent_id), (l.point))

-- fragment: run
actor = 'pipeline' AND message_id IS NOT NULL AND NOT data ? 'review'

-- fragment: counted_events
at >= :from AND at < :to AND ({{run}} OR data ->> 'decision' IN ('edit', 'approve'))

-- fragment: event_facts
-- A text in place of an empty draft is a reply, and edits nothing.
id, ticket_id, at,
CASE WHEN data ->> 'decision' = 'edit' AND data ->> 'draft' = '' THEN 'reply' ELSE data ->> 'decision' END AS decision, CASE WHEN {{run}} THEN message_id END AS run_of,
CASE WHEN NOT ({{run}}) THEN id END AS decision_id, data #>> '{gate,sends}' AS sends,
data #>> '{gate,rejects}' AS rejects

-- name: count
-- Counts messages, automatic answers, handoffs and decisions. Each pipeline run for a message leaves one event, which
-- says whether its answer was sent automatically; the pipeline's work for an operator's decision leaves other events,
-- which name the decision. A message that was processed again, after it had failed or was returned to the agent, has
-- several: the last one counts. The narrow rows of ticket_list represent the tickets. Events belong to the project that
-- their ticket came in to, whose index finds those of the span; tickets that came in elsewhere are found by their own
-- indexes.
SELECT {{groups}},
  count(l.run_of) AS messages,
  count(l.run_of) FILTER (WHERE l.sends = 'true') AS automatic,
  count(l.run_of) FILTER (WHERE l.sends = 'false' AND l.rejects IS DISTINCT FROM 'true') AS handoffs,
  count(*) FILTER (WHERE l.run_of IS NULL AND l.decision = 'edit') AS edits,
  count(*) FILTER (WHERE l.run_of IS NULL AND l.decision = 'approve') AS approvals
FROM (
  SELECT DISTINCT ON (e.run_of, e.decision_id) l.channel_id, l.agent_id, e.run_of, e.sends, e.rejects, e.decision,
    date_trunc(:unit::text, e.at, :time_zone::text) AS point
  FROM (
    SELECT {{event_facts}} FROM ticket_events WHERE project_id = :project AND {{counted_events}}
    UNION ALL
    SELECT {{event_facts}} FROM ticket_events
    WHERE ticket_id IN (SELECT ticket_id FROM ticket_list WHERE project_id = :project AND foreign_chat_id IS NOT NULL)
      AND project_id <> :project AND {{counted_events}}
  ) e JOIN ticket_list l ON l.ticket_id = e.ticket_id
  WHERE {{tickets}}
  ORDER BY e.run_of, e.decision_id, e.id DESC
) l
{{grouping}};

-- name: times
-- Times to the first reply of tickets that were created in the span, from when the first message was accepted, so that
-- the wait for the pipeline counts as well.
SELECT {{groups}},
  percentile_disc(0.5) WITHIN GROUP (ORDER BY l.waited_ms) AS p50,
  percentile_disc(0.9) WITHIN GROUP (ORDER BY l.waited_ms) AS p90
FROM (
  SELECT l.channel_id, l.agent_id,
    date_trunc(:unit::text, coalesce(m.created_at, t.created_at), :time_zone::text) AS point,
    (extract(epoch FROM t.first_reply_at - coalesce(m.created_at, t.created_at)) * 1000)::bigint AS waited_ms
  FROM ticket_list l JOIN tickets t ON t.id = l.ticket_id AND t.first_reply_at IS NOT NULL
  LEFT JOIN LATERAL (SELECT created_at FROM messages WHERE ticket_id = t.id ORDER BY seq LIMIT 1) m ON true
  WHERE l.created_us >= (extract(epoch FROM :from::timestamptz) * 1000000)::bigint
    AND l.created_us < (extract(epoch FROM :to::timestamptz) * 1000000)::bigint AND {{tickets}}
) l
{{grouping}};

-- name: topUnanswered
-- The gaps that were asked for in the span, the most asked first.
SELECT g.question, asked.count, asked.last_at
FROM gaps g CROSS JOIN LATERAL (
  SELECT count(*) AS count, max(x.at) AS last_at FROM gap_examples x
  WHERE x.gap_id = g.id AND x.at >= :from AND x.at < :to
    AND (:channel_id::text IS NULL AND :agent_id::uuid IS NULL OR EXISTS (
      SELECT FROM ticket_list l WHERE l.ticket_id = x.ticket_id AND {{tickets}}
    ))
) asked
WHERE g.project_id = :project AND g.last_at >= :from AND g.status = 'open' AND asked.count > 0
ORDER BY asked.count DESC, asked.last_at DESC LIMIT {{topUnanswered}};

-- name: models
-- Calls of the span that the project has made, by model; of one channel or agent, only those for its tickets.
SELECT c.model, count(c.fault) AS faults, {{modelSums}}
FROM model_calls c
WHERE c.project_id = :project AND c.at >= :from AND c.at < :to
  AND (:channel_id::text IS NULL AND :agent_id::uuid IS NULL OR EXISTS (
    SELECT FROM ticket_list l WHERE l.ticket_id = c.ticket_id AND {{tickets}}
  ))
GROUP BY c.model ORDER BY calls DESC, c.model LIMIT {{modelsMaxCount}};

-- fragment: received
-- Returns each waiting row, and applies the limit before it looks up chats.
SELECT greatest(m.created_at, m.not_before) AS at,
  c.channel_id = 'api' AND starts_with(coalesce(c.chat_id, ''), :issue_chat_prefix) AS is_issue
FROM (SELECT ticket_id, created_at, not_before FROM messages WHERE state = 'received' LIMIT {{lookMax}}) m
JOIN chats c ON c.ticket_id = m.ticket_id

-- name: depths
-- Reads each queue by the partial index of unfinished rows, so that the cost depends on waiting rows, not on finished
-- ones. It locks nothing.
WITH received AS MATERIALIZED ({{received}}), depth AS (
  {{waits}}
  UNION ALL {{waits2}}
  UNION ALL {{waits3}}
  UNION ALL {{waits4}}
  UNION ALL {{waits5}}
  UNION ALL {{waits6}}
  UNION ALL {{waits7}}
  UNION ALL {{waits8}}
)
SELECT depth.*, CASE queue
  WHEN 'messages' THEN {{countOf}}
  WHEN 'replies' THEN {{countOf2}}
  WHEN 'callbacks' THEN {{countOf3}}
  WHEN 'messenger_updates' THEN {{countOf4}}
END AS dead
FROM depth;

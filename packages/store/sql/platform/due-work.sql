-- fragment: soon
now() + interval '{{aheadMs}} milliseconds'

-- name: find (prepared)
-- Which kinds of work may be due: a sweep reads this first. Each uses an index. The conditions are looser than those of
-- the sweeps, which know of leases: what this does not report is not due. Timeouts, snoozes and deadlines are reported a
-- little early, so that an idle process is not late.
SELECT
  EXISTS (SELECT FROM messages WHERE state = 'received' AND due_at <= now()) AS messages,
  EXISTS (SELECT FROM reviews WHERE finished_at IS NULL AND due_at <= now()) AS reviews,
  EXISTS (SELECT FROM ingests WHERE due_at <= now() AND next_at <= now()) AS ingests,
  EXISTS (SELECT FROM model_pulls WHERE state = 'running' AND due_at <= now()) AS model_pulls,
  EXISTS (SELECT FROM callbacks WHERE has_news)
    OR EXISTS (SELECT FROM callbacks WHERE timeout_at <= {{soon}} AND NOT has_news) AS callbacks,
  EXISTS (SELECT FROM deliveries WHERE state = 'pending' AND due_at <= now()) AS deliveries,
  EXISTS (SELECT FROM outboxes WHERE settled_seq < wanted_seq AND next_at <= now()) AS outboxes,
  EXISTS (SELECT FROM ticket_index WHERE settled_id < (SELECT coalesce(max(id), 0) FROM ticket_events)) AS ticket_events,
  EXISTS (SELECT FROM ticket_text_queue WHERE queued_at <= now())
    OR EXISTS (SELECT FROM ticket_texts WHERE words_version < {{wordsVersion}}) AS ticket_texts,
  EXISTS (SELECT FROM tickets WHERE snoozed_until <= {{soon}}) AS snoozes,
  EXISTS (SELECT FROM ticket_deadlines WHERE ended_at IS NULL AND breached_at IS NULL AND due_at <= {{soon}}) AS deadlines,
  EXISTS (SELECT FROM email_notifications WHERE finished_at IS NULL AND next_at <= now()) AS emails,
  EXISTS (SELECT FROM tag_changes) AS tag_changes,
  EXISTS (
    SELECT FROM agents a JOIN ticket_list l ON l.project_id = a.project_id AND l.agent_id = a.id AND l.stage = 'review'
    WHERE a.assignment = 'round-robin' AND l.assignee IS NULL AND NOT l.is_snoozed
      AND l.status NOT IN ('resolved', 'spam') AND EXISTS (
        SELECT FROM operators o JOIN operator_roles r ON r.operator_id = o.id
        WHERE o.on_duty AND o.disabled_at IS NULL AND r.role IN ('administrator', 'operator')
          AND (r.project_id IS NULL OR r.project_id = l.project_id))
  ) AS assignments;

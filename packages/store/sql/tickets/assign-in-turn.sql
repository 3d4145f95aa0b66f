-- fragment: may_answer
-- Operators `o` on duty who may answer tickets of the project of `x`.
o.on_duty AND o.disabled_at IS NULL AND EXISTS (
  SELECT FROM operator_roles r WHERE r.operator_id = o.id AND r.role IN ('administrator', 'operator')
    AND (r.project_id IS NULL OR r.project_id = x.project_id))

-- name: hold
-- One replica assigns at a time, so that turns are fair; the others skip it. Released with the transaction.
SELECT pg_try_advisory_xact_lock(:assignment_lock::integer) AS is_held;

-- name: findDue
-- The ticket that has waited longest for a person, of the agents whose tickets are assigned in turn, in a project where
-- somebody is on duty. Tickets that are not in ticket_list yet are found a moment later.
SELECT x.id AS ticket_id, x.project_id AS project
FROM agents a
JOIN ticket_list l ON l.project_id = a.project_id AND l.agent_id = a.id AND l.stage = 'review' AND l.assignee IS NULL
  AND NOT l.is_snoozed
JOIN tickets x ON x.id = l.ticket_id AND x.project_id = a.project_id AND x.agent_id = a.id AND x.stage = 'review'
  AND x.assignee IS NULL AND x.snoozed_until IS NULL AND x.status NOT IN ('resolved', 'spam')
WHERE a.assignment = 'round-robin' AND EXISTS (SELECT FROM operators o WHERE {{may_answer}})
ORDER BY l.updated_us LIMIT 1;

-- name: takeTurn
-- The operator on duty whose last turn is the longest ago; records the new turn. Locks the row of operators that it
-- writes.
UPDATE operators SET assigned_at = clock_timestamp() WHERE on_duty AND disabled_at IS NULL AND id = (
  SELECT o.id FROM operators o CROSS JOIN (SELECT :project::uuid AS project_id) x WHERE {{may_answer}}
  ORDER BY o.assigned_at NULLS FIRST, o.id LIMIT 1
) RETURNING id;

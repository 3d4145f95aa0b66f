-- fragment: today
-- Today's row of `model_days` (UTC), independent of the time zone of the connection.
(now() AT TIME ZONE 'UTC')::date

-- name: insert
-- Records a finished call. The day's row is locked until the commit, which is short compared with the call. A ticket
-- that was erased during the call gets no row.
WITH owner AS (SELECT id FROM projects WHERE id = :project), day AS (
  INSERT INTO model_days (project_id, day, tokens) SELECT id, {{today}}, :tokens::bigint FROM owner
    WHERE :tokens::bigint > 0
  ON CONFLICT (project_id, day) DO UPDATE SET tokens = model_days.tokens + excluded.tokens
)
INSERT INTO model_calls (id, project_id, ticket_id, purpose, model, input_tokens, output_tokens, cost_usd, ms, fault)
SELECT :id::uuid, id, :ticket_id::uuid, :purpose::text, :model::text, :input_tokens::bigint, :output_tokens::bigint,
  :cost_usd::double precision, :ms::integer, :fault::text
FROM owner
WHERE :ticket_id::uuid IS NULL OR EXISTS (SELECT FROM chats WHERE ticket_id = :ticket_id::uuid AND chat_id <> '');

-- name: findAllowance
-- The limits of a project, and its usage today.
SELECT p.model_concurrency AS concurrency, p.model_tokens_per_day AS tokens_per_day,
  coalesce(d.tokens, 0) AS tokens_today
FROM projects p LEFT JOIN model_days d ON d.project_id = p.id AND d.day = {{today}}
WHERE p.id = :project;

-- name: sumTicket
-- Tokens and cost of the calls for a ticket, by the index on tickets.
SELECT {{modelSums}} FROM model_calls WHERE ticket_id = :ticket_id AND (:project::uuid IS NULL
  OR project_id = :project);

-- name: listOfTicket
-- The newest calls for a ticket.
SELECT at, purpose, model, input_tokens, output_tokens, cost_usd, ms, fault FROM model_calls
WHERE ticket_id = :ticket_id AND (:project::uuid IS NULL OR project_id = :project)
ORDER BY id DESC LIMIT {{shownMaxCount}};

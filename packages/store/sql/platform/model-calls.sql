-- fragment: today
-- Today's row of `model_days`, whatever the time zone of the connection.
(now() AT TIME ZONE 'UTC')::date

-- name: insert
-- Writes down a call that has ended. The row of the day is locked until the commit: as long as one statement takes, and
-- each call takes far longer. A ticket that was erased while the model answered gets no row.
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
-- What a project may use, and what it has used today.
SELECT p.model_concurrency AS concurrency, p.model_tokens_per_day AS tokens_per_day,
  coalesce(d.tokens, 0) AS tokens_today
FROM projects p LEFT JOIN model_days d ON d.project_id = p.id AND d.day = {{today}}
WHERE p.id = :project;

-- name: sumTicket
-- Tokens and money of the calls for a ticket. The index leads to the rows of the ticket alone.
SELECT {{modelSums}} FROM model_calls WHERE ticket_id = :ticket_id AND (:project::uuid IS NULL
  OR project_id = :project);

-- name: listOfTicket
-- The newest calls for a ticket.
SELECT at, purpose, model, input_tokens, output_tokens, cost_usd, ms, fault FROM model_calls
WHERE ticket_id = :ticket_id AND (:project::uuid IS NULL OR project_id = :project)
ORDER BY id DESC LIMIT {{shownMaxCount}};

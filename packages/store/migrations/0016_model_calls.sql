-- Up Migration

-- What a project may ask of language models. Calls at once, in each process; NULL: any number.
ALTER TABLE projects ADD COLUMN model_concurrency integer DEFAULT 8;
-- Tokens of a day (UTC), of questions and answers together; NULL: any number.
ALTER TABLE projects ADD COLUMN model_tokens_per_day bigint;

-- What language models were asked for, without any text: one row a call, written when it has ended.
CREATE TABLE model_calls (
  id uuid PRIMARY KEY,
  -- Who asked: the project that worked on the ticket, which need not be the one where it came in.
  project_id uuid NOT NULL,
  -- NULL where no ticket was worked on.
  ticket_id uuid,
  at timestamptz NOT NULL DEFAULT now(),
  purpose text NOT NULL,
  -- Id in the catalogue of models.
  model text NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  -- US dollars; NULL where no price was configured.
  cost_usd double precision,
  ms integer NOT NULL,
  -- Why there was no usable answer; NULL where there was one.
  fault text
);
CREATE INDEX model_calls_of_project ON model_calls (project_id, at);
CREATE INDEX model_calls_of_ticket ON model_calls (ticket_id, id) WHERE ticket_id IS NOT NULL;

-- Tokens of a project by day (UTC): what is left of its limit is one row, and no erasure gives tokens back.
CREATE TABLE model_days (
  project_id uuid NOT NULL,
  day date NOT NULL,
  tokens bigint NOT NULL,
  PRIMARY KEY (project_id, day)
) WITH (fillfactor = 80);

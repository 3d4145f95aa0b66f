-- Up Migration

-- Models that are, or were, pulled to a server on a machine of the installation's own: one row a model, so that however
-- many ask for one, it is pulled once. They belong to no project.
CREATE TABLE model_pulls (
  -- The model as the catalogue names it, with its tag.
  catalog_id text PRIMARY KEY,
  -- This pull of it; another one after the end of this one.
  id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled')),
  -- What is being done, in the words of the server that pulls.
  status text NOT NULL,
  completed_bytes bigint NOT NULL DEFAULT 0,
  -- As far as it is known; null before anything is.
  total_bytes bigint,
  -- Counts what there was to tell of this pull, so that whoever follows it knows what is new.
  version integer NOT NULL DEFAULT 1,
  -- Why it has failed, or why the last try did: a code of the errors' catalogue and words for people.
  error_code text,
  error text,
  -- Tries since anything has come.
  attempts integer NOT NULL DEFAULT 0,
  -- The worker that has it, until when unless it renews.
  lease_id uuid,
  lease_until timestamptz,
  -- Not tried before.
  next_at timestamptz NOT NULL DEFAULT now(),
  -- When the sweeper announces it again.
  due_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- What has to be worked on: a few rows at most.
CREATE INDEX model_pulls_running ON model_pulls (due_at) WHERE state = 'running';

-- Up Migration

-- Who did what, append-only. The rows are one chain: each one's hash is made from its own values and the hash before it,
-- so that a row that was changed, taken out, put in or moved shows. They are numbered from 1 in each day (UTC); the first
-- of a day goes on from the last of the day before that has any.
CREATE TABLE audit_events (
  -- Made of the time and the number, so that ids sort as the chain does.
  id uuid PRIMARY KEY,
  day date NOT NULL,
  number integer NOT NULL,
  -- Never earlier than that of the row before.
  at timestamptz(3) NOT NULL,
  -- The kind and id of who asked; 'anonymous' without a valid key.
  actor text NOT NULL,
  action text NOT NULL,
  -- What it was done to; NULL where it concerns no single thing.
  object text,
  -- NULL where no project was chosen, or was refused.
  project_id uuid,
  project text,
  -- 'ok', or the code of the error.
  result text NOT NULL,
  request_id text,
  -- How many times, where one row stands for many.
  count integer NOT NULL,
  -- The network that it came from, never the address; NULL where that is not kept.
  network text,
  hash bytea NOT NULL,
  UNIQUE (day, number)
);
-- One index for each thing that the list is filtered by, each in the order of the list.
CREATE INDEX audit_events_of_project ON audit_events (project_id, id);
CREATE INDEX audit_events_of_project_name ON audit_events (project, id);
CREATE INDEX audit_events_of_actor ON audit_events (actor, id);
CREATE INDEX audit_events_of_action ON audit_events (action, id);
CREATE INDEX audit_events_of_object ON audit_events (object, id) WHERE object IS NOT NULL;
CREATE INDEX audit_events_of_refusals ON audit_events (result, id) WHERE result <> 'ok';

-- The end of the chain: one row, which whoever appends locks and moves on. Rows that were cut off after it was moved show.
CREATE TABLE audit_head (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  day date NOT NULL,
  number integer NOT NULL,
  at timestamptz(3) NOT NULL,
  hash bytea NOT NULL
);
INSERT INTO audit_head (day, number, at, hash) VALUES ('1970-01-01', 0, '1970-01-01T00:00:00Z', '');

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit trail is append-only: % of % is refused', TG_OP, TG_TABLE_NAME;
END
$$;
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_head_stays BEFORE DELETE OR TRUNCATE ON audit_head
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_head_moves_on BEFORE UPDATE ON audit_head
  FOR EACH ROW WHEN ((NEW.day, NEW.number) <= (OLD.day, OLD.number)) EXECUTE FUNCTION refuse_audit_change();

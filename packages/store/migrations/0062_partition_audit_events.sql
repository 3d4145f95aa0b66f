-- Up Migration

-- As delivery_attempts, by range of the id. UNIQUE (day, number) cannot be a constraint of the whole table, as the id is no
-- part of it: each partition has it. All rows of a day are in one partition, because the id begins with the time and
-- partitions begin with a day.
ALTER TABLE audit_events RENAME TO audit_events_first;
CREATE TABLE audit_events (LIKE audit_events_first INCLUDING DEFAULTS, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE INDEX ON audit_events (project_id, id);
CREATE INDEX ON audit_events (project, id);
CREATE INDEX ON audit_events (actor, id);
CREATE INDEX ON audit_events (action, id);
CREATE INDEX ON audit_events (object, id) WHERE object IS NOT NULL;
CREATE INDEX ON audit_events (result, id) WHERE result <> 'ok';
ALTER TABLE audit_events ATTACH PARTITION audit_events_first FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
-- A trigger of the whole table guards no partition that somebody names: each has one of its own.
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

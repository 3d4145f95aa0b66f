-- Up Migration

-- What people did in a period, for reports: these rows are few beside those that the pipeline writes.
CREATE INDEX ticket_events_decisions ON ticket_events (project_id, at) WHERE data ? 'decision';
-- Ratings of a period.
CREATE INDEX visitors_rated ON visitors (project_id, rated_at) WHERE score IS NOT NULL;

-- Up Migration

-- Lists of pending or of dead callbacks: there are few among all that were ever delivered.
CREATE INDEX deliveries_unfinished ON deliveries (project_id, state, place) WHERE state IN ('pending', 'dead');

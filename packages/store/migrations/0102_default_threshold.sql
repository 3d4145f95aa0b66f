-- Up Migration

-- New agents send answers from a confidence of .7 (ADR 0067). Existing agents keep their threshold.
ALTER TABLE agents ALTER COLUMN auto_threshold SET DEFAULT 0.7;

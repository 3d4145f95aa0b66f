-- Up Migration

-- What customers read when a person has to answer, by language (ISO 639-1); for others handoff_text counts.
ALTER TABLE projects ADD COLUMN handoff_texts jsonb NOT NULL DEFAULT '{}';

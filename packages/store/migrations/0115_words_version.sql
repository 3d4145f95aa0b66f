-- Up Migration

-- The version of what the document has. The pipeline indexes rows of an earlier version again in the background, a few at a
-- time; so does a new kind of words without another column. 1: phone numbers and chat IDs.
ALTER TABLE ticket_texts ADD COLUMN words_version smallint NOT NULL DEFAULT 0;

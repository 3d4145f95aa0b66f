-- Up Migration

-- What the console adds to the replies of an operator, as Markdown; empty for none.
ALTER TABLE operators ADD COLUMN signature text NOT NULL DEFAULT '';

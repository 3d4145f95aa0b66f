-- Up Migration

-- Messages of a blocked customer get no answer: their tickets become spam.
ALTER TABLE customers ADD COLUMN is_blocked boolean NOT NULL DEFAULT false;
-- Nearly always empty, so that a message costs one look at it.
CREATE INDEX customers_blocked ON customers (project_id) WHERE is_blocked;
-- Operators' notes on a customer, oldest first: objects with id, at, author and text.
ALTER TABLE customers ADD COLUMN notes jsonb NOT NULL DEFAULT '[]';
-- True for a ticket that became spam while its customer was blocked: the next message after the end of the block opens it
-- again.
ALTER TABLE tickets ADD COLUMN is_blocked boolean NOT NULL DEFAULT false;

-- Up Migration

-- True once the words of the name by which people see the customer are in the document: also the friendly name of one
-- whose name is unknown, and the name that an operator has set. The pipeline indexes the other rows again in the background,
-- a few at a time, and also those that the version before writes meanwhile.
ALTER TABLE ticket_texts ADD COLUMN has_friendly_name boolean NOT NULL DEFAULT false;

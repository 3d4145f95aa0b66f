-- Up Migration

-- True once the words of the customer's name, e-mail address and user id are in the document. The pipeline indexes the
-- other rows again in the background, a few at a time, and also those that the version before writes meanwhile.
ALTER TABLE ticket_texts ADD COLUMN has_customer boolean NOT NULL DEFAULT false;

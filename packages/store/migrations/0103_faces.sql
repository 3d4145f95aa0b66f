-- Up Migration

-- What customers see of an operator: a name, empty for none, and the path of a picture on the site of the widget.
ALTER TABLE operators ADD COLUMN public_name text NOT NULL DEFAULT '', ADD COLUMN picture text NOT NULL DEFAULT '';
-- The operator or the agent that wrote a reply, where one did.
ALTER TABLE replies ADD COLUMN author_id uuid;

-- Up Migration

-- 'tool-server' for a ticket of a submitted issue, which is told by its chat; NULL for any other.
ALTER TABLE ticket_list ADD COLUMN origin text;
-- The shared Inbox: few of all tickets, the newest changes first, of a project or of all of them.
CREATE INDEX ticket_list_of_origin ON ticket_list (project_id, updated_us, ticket_id) WHERE origin IS NOT NULL;

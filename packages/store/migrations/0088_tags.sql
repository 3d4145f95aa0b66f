-- Up Migration

-- Managed tags of a project. Tickets have the names of their tags, so a tag on a ticket need not be managed.
CREATE TABLE tags (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- One of a fixed palette, by its name.
  color text NOT NULL DEFAULT 'gray',
  description text NOT NULL DEFAULT '',
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX tags_by_name ON tags (project_id, lower(name));

-- Names that are being replaced on the tickets of a project; to_name is NULL for a tag that is removed. Mostly empty.
CREATE TABLE tag_changes (
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  from_name text NOT NULL,
  to_name text,
  actor text NOT NULL,
  -- The newest event of tickets then: once ticket_list has followed it, no ticket that had the name is missing there.
  event_id bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, from_name)
);

-- What a canned reply does besides its text, as in {"addTags": ["refund"], "resolves": true}.
ALTER TABLE canned_replies ADD COLUMN actions jsonb NOT NULL DEFAULT '{}';

-- Up Migration

-- Views of the inbox that operators have saved: each has their own, and nobody else sees them.
CREATE TABLE operator_views (
  operator_id uuid NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
  name text NOT NULL,
  -- NULL: a view of all projects.
  project_id uuid REFERENCES projects (id) ON DELETE CASCADE,
  -- The part of the inbox that the filters narrow down.
  part text NOT NULL,
  -- Texts by the names of the filters.
  filters jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (operator_id, name)
);
CREATE INDEX operator_views_of_project ON operator_views (project_id) WHERE project_id IS NOT NULL;

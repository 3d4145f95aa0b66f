-- Up Migration

-- People who work with the product.
CREATE TABLE operators (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  -- The address in lower case: one person, however it is written.
  email_key text NOT NULL UNIQUE,
  name text NOT NULL,
  -- scrypt with its parameters and salt; NULL while there is no password.
  password_hash text,
  last_seen_at timestamptz,
  disabled_at timestamptz,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE operator_roles (
  operator_id uuid NOT NULL REFERENCES operators (id) ON DELETE CASCADE,
  -- NULL: in every project.
  project_id uuid REFERENCES projects (id) ON DELETE CASCADE,
  -- administrator, operator or viewer.
  role text NOT NULL
);
-- One role in each project; the nil UUID stands for every project, since NULLs are not equal.
CREATE UNIQUE INDEX operator_roles_once
  ON operator_roles (operator_id, coalesce(project_id, '00000000-0000-0000-0000-000000000000'));
CREATE INDEX operator_roles_of_project ON operator_roles (project_id);

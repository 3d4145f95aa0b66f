-- Up Migration

-- Articles that operators write for a knowledge base. The document that agents search is a copy of the published version.
CREATE TABLE articles (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kb_id uuid NOT NULL REFERENCES kbs (id) ON DELETE CASCADE,
  -- The gap that it answers; NULL for an article of its own.
  gap_id uuid,
  -- Key of its document.
  key text NOT NULL,
  -- Whether the newest version waits for a review.
  in_review boolean NOT NULL DEFAULT false,
  -- Number of the newest version, and of the published one.
  revision integer NOT NULL DEFAULT 1,
  published_revision integer,
  -- The document of the published version. It may be deleted on its own.
  document_id uuid,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (kb_id, key)
);
CREATE INDEX articles_of_project ON articles (project_id, id);

CREATE TABLE article_versions (
  article_id uuid NOT NULL REFERENCES articles (id) ON DELETE CASCADE,
  number integer NOT NULL,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  title text NOT NULL,
  text text NOT NULL,
  -- Who saved it.
  actor text NOT NULL,
  -- Number of the version that it restores.
  restores integer,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (article_id, number)
);
CREATE INDEX article_versions_of_project ON article_versions (project_id);

-- Images of articles. The text of an article refers to them as `images/<id>`.
CREATE TABLE article_images (
  id uuid PRIMARY KEY,
  article_id uuid NOT NULL REFERENCES articles (id) ON DELETE CASCADE,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  mime text NOT NULL,
  content bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX article_images_of_article ON article_images (article_id);
CREATE INDEX article_images_of_project ON article_images (project_id);

-- Versions and images count as documents of the project.
CREATE TRIGGER article_versions_added AFTER INSERT ON article_versions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_texts('documents');
CREATE TRIGGER article_versions_removed AFTER DELETE ON article_versions REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_texts('documents');
CREATE TRIGGER article_images_added AFTER INSERT ON article_images REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_contents('documents');
CREATE TRIGGER article_images_removed AFTER DELETE ON article_images REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_contents('documents');

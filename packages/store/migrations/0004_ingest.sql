-- Up Migration

-- When it was deleted: from then on nobody finds it. What is in it is removed afterwards, a little at a time.
ALTER TABLE kbs ADD COLUMN deleted_at timestamptz;
CREATE INDEX kbs_deleted ON kbs (id) WHERE deleted_at IS NOT NULL;

-- The file or page that the text of a document was read from. These columns hold for the text whose hash is
-- source_content_hash: once content_hash is another one, they say nothing.
ALTER TABLE documents ADD COLUMN source_content_hash bytea;
-- SHA-256 of all that was handed in: the same again need not be read again.
ALTER TABLE documents ADD COLUMN source_hash bytea;
ALTER TABLE documents ADD COLUMN source_mime text;
ALTER TABLE documents ADD COLUMN source_size_bytes integer;
CREATE INDEX documents_of_kb ON documents (kb_id, id);
CREATE INDEX documents_failed ON documents (kb_id) WHERE status = 'failed';

-- A sitemap whose pages were asked for, kept to show how far that is, and for 30 days after its end.
CREATE TABLE imports (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  kb_id uuid NOT NULL REFERENCES kbs (id) ON DELETE CASCADE,
  url text NOT NULL,
  max_pages integer NOT NULL,
  -- Pages to read; NULL until the sitemap was read. Then how many became documents and how many could not be read. What
  -- is left of them, and does not wait, was deleted or handed in anew meanwhile.
  found_count integer,
  done_count integer NOT NULL DEFAULT 0,
  failed_count integer NOT NULL DEFAULT 0,
  -- Why the sitemap itself could not be read.
  error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);
CREATE INDEX imports_of_kb ON imports (kb_id, id);
-- By the beginning, which never changes, since the end moves with every page.
CREATE INDEX imports_by_age ON imports (created_at);

-- What was accepted and is not read yet: one row a document, or a sitemap. Gone once it has ended, one way or the other.
CREATE TABLE ingests (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  kb_id uuid NOT NULL REFERENCES kbs (id) ON DELETE CASCADE,
  -- text and file have their bytes in ingest_parts; page and sitemap are fetched from url.
  kind text NOT NULL,
  -- The document that it becomes; NULL for a sitemap. What is handed in later for a document takes the place of this.
  document_id uuid UNIQUE REFERENCES documents (id) ON DELETE CASCADE,
  -- The import that it is a page of, or the sitemap of.
  import_id uuid REFERENCES imports (id) ON DELETE CASCADE,
  -- What the document is called by its source; empty for a sitemap.
  key text NOT NULL,
  name text NOT NULL,
  mime text,
  title text,
  url text,
  source_hash bytea,
  size_bytes integer NOT NULL DEFAULT 0,
  -- 0 for what was handed in with its bytes, 1 for a single page, 2 for sitemaps and their pages: goes before time.
  priority smallint NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  -- Why the last try failed, where that was no fault of the document.
  failure text,
  -- Not to be tried before this time; what may be tried first goes first.
  next_at timestamptz NOT NULL DEFAULT now(),
  -- When the sweeper publishes it again if nobody has taken it.
  due_at timestamptz NOT NULL,
  lease_id uuid,
  lease_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);
-- Leads from one project to the next, and within a project to what is next.
CREATE INDEX ingests_order ON ingests (project_id, priority, next_at, id);
CREATE INDEX ingests_due ON ingests (due_at);
CREATE INDEX ingests_of_project ON ingests (project_id) INCLUDE (size_bytes);
CREATE INDEX ingests_of_kb ON ingests (kb_id);
CREATE INDEX ingests_of_import ON ingests (import_id) WHERE import_id IS NOT NULL;

-- The bytes of an ingest in pieces, so that a large file is never in one statement or one answer.
CREATE TABLE ingest_parts (
  ingest_id uuid NOT NULL REFERENCES ingests (id) ON DELETE CASCADE,
  ordinal integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (ingest_id, ordinal)
);
-- Most files are compressed already.
ALTER TABLE ingest_parts ALTER COLUMN bytes SET STORAGE EXTERNAL;

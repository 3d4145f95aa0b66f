-- Up Migration

-- A knowledge base, with the figures of all its chunks that a search needs before it can weigh a word.
CREATE TABLE kbs (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name text NOT NULL,
  document_count integer NOT NULL DEFAULT 0,
  chunk_count integer NOT NULL DEFAULT 0,
  -- Sum of the chunks' term_count.
  term_total bigint NOT NULL DEFAULT 0,
  -- Every language that a document had so far: a query is stemmed as each of them.
  languages text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  version integer NOT NULL DEFAULT 1,
  UNIQUE (project_id, name)
);

CREATE TABLE documents (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  kb_id uuid NOT NULL REFERENCES kbs (id) ON DELETE CASCADE,
  -- What its source calls it (path, URL, a chosen name): adding the same key again replaces the document.
  key text NOT NULL,
  title text NOT NULL,
  url text,
  mime text NOT NULL,
  size_bytes integer NOT NULL,
  -- SHA-256 of all that the chunks are made from.
  content_hash bytea NOT NULL,
  -- ISO 639-1.
  language text NOT NULL,
  status text NOT NULL,
  error text,
  chunk_count integer NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (kb_id, key)
);

-- The passages of a document, in its order. Offsets are UTF-16 units in the document's text.
CREATE TABLE chunks (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL,
  kb_id uuid NOT NULL,
  document_id uuid NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  ordinal integer NOT NULL,
  heading_path text[] NOT NULL,
  text text NOT NULL,
  start_offset integer NOT NULL,
  end_offset integer NOT NULL,
  term_count integer NOT NULL,
  UNIQUE (document_id, ordinal)
);

-- Postings: in which chunk a stemmed word stands, how often in which field, and how long that chunk is, so that a
-- search weighs a chunk without reading it.
CREATE TABLE chunk_terms (
  kb_id uuid NOT NULL,
  term text NOT NULL,
  chunk_id uuid NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
  title_count smallint NOT NULL,
  heading_count smallint NOT NULL,
  body_count smallint NOT NULL,
  chunk_term_count integer NOT NULL,
  PRIMARY KEY (kb_id, term, chunk_id)
    INCLUDE (title_count, heading_count, body_count, chunk_term_count)
);
CREATE INDEX chunk_terms_of_chunk ON chunk_terms (chunk_id);

-- The words of a knowledge base and in how many of its chunks each stands.
CREATE TABLE kb_terms (
  kb_id uuid NOT NULL REFERENCES kbs (id) ON DELETE CASCADE,
  term text NOT NULL,
  chunk_count integer NOT NULL,
  PRIMARY KEY (kb_id, term)
) WITH (fillfactor = 80);

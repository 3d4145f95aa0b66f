-- Up Migration

-- A knowledge base numbers its passages: a document's follow each other from its first_chunk_number on, and no number
-- is given twice. 4,096 numbers are a block, and postings are kept by word and block.
ALTER TABLE kbs ADD COLUMN number integer GENERATED ALWAYS AS IDENTITY UNIQUE;
ALTER TABLE kbs ADD COLUMN next_chunk_number integer NOT NULL DEFAULT 0;
-- The blocks that have postings, and numbers in them that have no passage any more: the first of each run and the one
-- behind its last, in turns. Postings of such numbers do not count; a block that has many of them is given up.
ALTER TABLE kbs ADD COLUMN blocks integer[] NOT NULL DEFAULT '{}';
ALTER TABLE kbs ADD COLUMN dead_numbers integer[] NOT NULL DEFAULT '{}';

-- NULL until the document is indexed in this way.
ALTER TABLE documents ADD COLUMN first_chunk_number integer;
-- Sum of its chunks' term_count.
ALTER TABLE documents ADD COLUMN term_count integer NOT NULL DEFAULT 0;
-- Which version of the program's indexing made its postings; 0 is the one of chunk_terms.
ALTER TABLE documents ADD COLUMN index_version smallint NOT NULL DEFAULT 0;
CREATE INDEX documents_by_number ON documents (kb_id, first_chunk_number DESC)
  INCLUDE (chunk_count, term_count) WHERE first_chunk_number IS NOT NULL;
CREATE INDEX documents_by_index_version ON documents (index_version, id) WHERE chunk_count > 0;

-- Page of the document that it begins on, from 1; NULL where the document has no pages.
ALTER TABLE chunks ADD COLUMN page integer;

-- In which passages of a block a word stands: 8 bytes a passage, by number. Takes the place of chunk_terms and kb_terms,
-- which hold what the former version indexed until that is indexed anew.
CREATE TABLE kb_postings (
  kb_number integer NOT NULL REFERENCES kbs (number) ON DELETE CASCADE,
  block integer NOT NULL,
  term text COLLATE "C" NOT NULL,
  postings bytea NOT NULL,
  PRIMARY KEY (kb_number, block, term)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.1);
-- Compressing would cost more than it saves: what grows long is read with most searches.
ALTER TABLE kb_postings ALTER COLUMN postings SET STORAGE EXTERNAL;

-- The words of a knowledge base and their stems, without accents: what a misspelt word of a query may stand for. A word
-- stays when its last document goes; a search leaves out what has no postings.
CREATE TABLE kb_words (
  kb_number integer NOT NULL REFERENCES kbs (number) ON DELETE CASCADE,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (kb_number, word)
);

-- Words with more than one wrong letter are found by the trigrams that they share. Where this extension cannot be had
-- (not installed on the server, or no right to CREATE on this database), searches do without it.
DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
EXCEPTION WHEN OTHERS THEN
  RAISE NOTICE 'pg_trgm is not available, so words with several misspelt letters are not found: %', SQLERRM;
END
$$;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    EXECUTE format('CREATE INDEX kb_words_by_trigram ON kb_words USING gin (word %I.gin_trgm_ops)',
      (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'));
  END IF;
END
$$;

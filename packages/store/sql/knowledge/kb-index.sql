-- name: stem
-- Stems words. The caller caches results: words repeat, and a round trip costs more than the stemming.
SELECT coalesce((ts_lexize(d.dictionary, w.word))[1], w.word) AS stem
FROM unnest(:word::text[]) WITH ORDINALITY AS w (word, place) CROSS JOIN (
  SELECT coalesce((SELECT oid FROM pg_catalog.pg_ts_dict WHERE dictname = :config || '_stem'
    AND dictnamespace = 'pg_catalog'::regnamespace), 'pg_catalog.simple'::regdictionary)::regdictionary
    AS dictionary
) AS d ORDER BY w.place;

-- name: loadKbIndex
-- Reads the index of a knowledge base that this transaction has locked.
SELECT number, next_chunk_number, blocks, dead_numbers FROM kbs WHERE id = :kb_id AND deleted_at IS NULL;

-- name: saveKbIndex
-- Saves the changed index. Locks the rows of kbs that it writes.
UPDATE kbs SET next_chunk_number = :next_chunk_number, blocks = :blocks, dead_numbers = :dead_numbers WHERE id = :kb_id;

-- name: appendRows
-- Appends postings to the stored ones. Locks the rows of kb_postings that it writes.
INSERT INTO kb_postings AS p (kb_number, block, term, postings)
SELECT :kb_number, r.block, r.term, substring(:bytes::bytea FROM r.start FOR r.length)
FROM unnest(:block::integer[], :term::text[], :start::integer[], :length::integer[]) AS r (block, term, start, length)
ON CONFLICT (kb_number, block, term) DO UPDATE SET postings = p.postings || excluded.postings;

-- name: insertWords
-- Adds words to those of a knowledge base. Locks the rows of kb_words that it writes.
INSERT INTO kb_words (kb_number, word) SELECT :kb_number, unnest(:words::text[]) ON CONFLICT DO NOTHING;

-- name: tidyIndex
-- Lists the documents of a block that consists mostly of deleted numbers: they get new numbers, and the block is
-- deleted.
SELECT id, first_chunk_number AS first, chunk_count AS count FROM documents
WHERE kb_id = :kb_id AND first_chunk_number < :first_chunk_number AND first_chunk_number + chunk_count > :from
ORDER BY first_chunk_number;

-- name: deleteBlock
-- Deletes a block of postings. Locks the rows of kb_postings that it writes.
DELETE FROM kb_postings WHERE kb_number = :kb_number AND block = :block;

-- name: savePlaces
-- Stores the number of the first passage of documents. Locks the rows of documents that it writes.
UPDATE documents SET first_chunk_number = m.number FROM unnest(:id::uuid[], :number::integer[]) AS m (id, number)
WHERE documents.id = m.id;

-- name: readBlock
-- The postings of a block by their terms, in batches.
SELECT term, postings FROM kb_postings WHERE kb_number = :kb_number AND block = :block AND (:last::text IS NULL
  OR term > :last)
ORDER BY term LIMIT {{readBatch}};

-- name: removeSomePostings
-- Deletes some postings of a deleted knowledge base. Locks them.
DELETE FROM kb_postings WHERE ctid = ANY (ARRAY(
  SELECT t.ctid FROM kb_postings t WHERE t.kb_number = (SELECT number FROM kbs WHERE id = :kb_id)
  LIMIT {{removeBatch}}));

-- name: removeSomeWords
-- Deletes some words of a deleted knowledge base. Locks them.
DELETE FROM kb_words WHERE ctid = ANY (ARRAY(
  SELECT t.ctid FROM kb_words t WHERE t.kb_number = (SELECT number FROM kbs WHERE id = :kb_id)
  LIMIT {{removeBatch}}));

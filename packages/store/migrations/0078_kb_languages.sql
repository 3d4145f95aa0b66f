-- Up Migration

-- The languages of a knowledge base: those of its documents, the one with the most words first. A query is stemmed as each
-- of them, so that also a single document in another language is found.
CREATE FUNCTION kb_languages(kb uuid) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(language ORDER BY words DESC, language), '{}')
  FROM (
    SELECT language, sum(greatest(term_count, chunk_count)) AS words
    FROM documents WHERE kb_id = kb AND status = 'ready' GROUP BY language
  ) AS l
$$;

UPDATE kbs SET languages = kb_languages(id) WHERE cardinality(languages) > 1;

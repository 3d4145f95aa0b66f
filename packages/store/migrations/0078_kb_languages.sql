-- Up Migration

-- The languages of a knowledge base: those in which at least a twentieth of its words are written, the most frequent first.
-- Pages that hold little but a title or code are often taken for another language; a base is not in that language.
CREATE FUNCTION kb_languages(kb uuid) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(language ORDER BY words DESC, language), '{}')
  FROM (
    SELECT language, sum(greatest(term_count, chunk_count)) AS words,
      sum(sum(greatest(term_count, chunk_count))) OVER () AS all_words
    FROM documents WHERE kb_id = kb AND status = 'ready' GROUP BY language
  ) AS l
  WHERE words * 20 >= all_words
$$;

UPDATE kbs SET languages = kb_languages(id) WHERE cardinality(languages) > 1;

-- Up Migration

-- The languages that a knowledge base is in, the one with the most words first: those of at least a tenth of its words. A
-- few documents in another language, or of which that is assumed wrongly, do not make it one of that language.
CREATE FUNCTION kb_main_languages(kb uuid) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(language ORDER BY words DESC, language) FILTER (WHERE words >= total / 10), '{}')
  FROM (
    SELECT language, sum(greatest(term_count, chunk_count)) AS words,
      sum(sum(greatest(term_count, chunk_count))) OVER () AS total
    FROM documents WHERE kb_id = kb AND status = 'ready' GROUP BY language
  ) AS l
$$;

ALTER TABLE kbs ADD COLUMN main_languages text[] NOT NULL DEFAULT '{}';
UPDATE kbs SET main_languages = kb_main_languages(id);

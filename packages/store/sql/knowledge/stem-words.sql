-- name: stem
-- Makes a stemmer that keeps what it has learnt: the same words come again and again, and a round trip costs more than
-- the stemming.
SELECT coalesce((ts_lexize(d.dictionary, w.word))[1], w.word) AS stem
FROM unnest(:word::text[]) WITH ORDINALITY AS w (word, place) CROSS JOIN (
  SELECT coalesce((SELECT oid FROM pg_catalog.pg_ts_dict WHERE dictname = :config || '_stem'
    AND dictnamespace = 'pg_catalog'::regnamespace), 'pg_catalog.simple'::regdictionary)::regdictionary
    AS dictionary
) AS d ORDER BY w.place;

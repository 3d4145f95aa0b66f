-- Up Migration

-- What a search of customers looks into: a text in lower case without accents, followed by the digits of a phone number.
-- Evaluated again for each row that an index finds, so most texts, which are ASCII, take the short way.
CREATE FUNCTION customer_search_key(searched text, phone text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(searched) = length(searched) THEN lower(searched)
    ELSE replace(replace(replace(translate(normalize(lower(searched), NFD),
        E'øłđħıð\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0328', 'oldhid'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe')
    END || coalesce(' ' || translate(replace(phone, '(0)', ''), ' +-()./', ''), '')
$$;

DROP INDEX IF EXISTS customers_by_trigram;
-- Without pg_trgm, searches go along customers_by_last_seen.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    EXECUTE format(
      'CREATE INDEX customers_by_search_key ON customers USING gin (customer_search_key(search_text, phone) %I.gin_trgm_ops)',
      (SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'));
  END IF;
END $$;

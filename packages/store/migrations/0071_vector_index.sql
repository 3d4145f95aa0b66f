-- Up Migration

-- Makes pgvector usable where the server has it (0.8 or later), with an index on embeddings of so many numbers; false where
-- it does not, or this role may not create it. Of more than 2,000 numbers there is no index: they are compared one by one.
-- Building the index locks the embeddings against writes.
CREATE FUNCTION prepare_vector_index(wanted integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_available_extension_versions
    WHERE name = 'vector' AND string_to_array(version, '.')::integer[] >= ARRAY[0, 8, 0]) THEN
    RETURN false;
  END IF;
  CREATE EXTENSION IF NOT EXISTS vector;
  IF wanted <= 2000 THEN
    EXECUTE format('CREATE INDEX IF NOT EXISTS chunk_embeddings_vectors_%1$s ON chunk_embeddings
      USING hnsw ((embedding::vector(%1$s)) vector_ip_ops) WHERE dimensions = %1$s', wanted);
  END IF;
  RETURN true;
EXCEPTION WHEN insufficient_privilege THEN
  RETURN false;
END $$;

-- The passages of these knowledge bases that are closest to a query, closest first, with the cosine. Embeddings have length 1,
-- so that it is the inner product, whose negative `<#>` returns. Needs pgvector. The index goes on until enough of what it
-- finds is in these knowledge bases.
CREATE FUNCTION closest_passages(project uuid, kbs uuid[], model_name text, query real[], wanted integer)
RETURNS TABLE (chunk_id uuid, cosine real) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('hnsw.iterative_scan', 'strict_order', true);
  RETURN QUERY EXECUTE format('SELECT e.chunk_id, (-(e.embedding::vector(%1$s) <#> $4::vector(%1$s)))::real
    FROM chunk_embeddings e
    WHERE e.project_id = $1 AND e.kb_id = ANY ($2) AND e.model = $3 AND e.dimensions = %1$s
    ORDER BY e.embedding::vector(%1$s) <#> $4::vector(%1$s) LIMIT $5', cardinality(query))
  USING project, kbs, model_name, query, wanted;
END $$;

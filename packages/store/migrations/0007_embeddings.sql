-- Up Migration

-- The embedding model of the installation, one row: that of the process that began last. A process that is configured
-- with another one embeds nothing, so that two of them do not undo each other's work for ever.
CREATE TABLE embedding_model (
  is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
  model text NOT NULL,
  -- How many numbers its embeddings have.
  dimensions integer NOT NULL,
  chosen_at timestamptz NOT NULL DEFAULT now()
);

-- What a passage means, in the numbers of an embedding model. A row without dimensions is being worked on.
CREATE TABLE chunk_embeddings (
  chunk_id uuid PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  project_id uuid NOT NULL,
  kb_id uuid NOT NULL,
  model text NOT NULL,
  -- 0: the endpoint refuses this passage; it is not tried again for this model.
  dimensions integer,
  -- Of length 1, so that the cosine of two of them is the sum of the products of their numbers.
  embedding real[],
  -- Grows with every embedding that is written, so that a process sees by the highest one that there is something new.
  seq bigint GENERATED ALWAYS AS IDENTITY,
  -- Until then a worker has it; afterwards another one may take it.
  lease_until timestamptz
);
-- These numbers cannot be compressed.
ALTER TABLE chunk_embeddings ALTER COLUMN embedding SET STORAGE EXTERNAL;
CREATE INDEX chunk_embeddings_of_kb ON chunk_embeddings (kb_id, model, seq) WHERE dimensions > 0;
CREATE INDEX chunk_embeddings_leased ON chunk_embeddings (lease_until) WHERE dimensions IS NULL;

import { asFound } from "./chunks.ts";
import type { ChunkRow, FoundChunk } from "./chunks.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

/** An embedding model, known by its name and by how many numbers its embeddings have. */
export interface EmbeddingModel {
  model: string;
  dimensions: number;
}

/** A passage that a worker has taken to embed it. */
export interface ClaimedChunk {
  chunkId: string;
  title: string;
  headingPath: string[];
  text: string;
}

/** An embedding of length 1, or null for a passage that the endpoint refuses. */
export interface ChunkEmbedding {
  chunkId: string;
  embedding: Float32Array | null;
}

/** How far a knowledge base is embedded. */
export interface EmbeddedKb {
  kbId: string;
  chunkCount: number;
  /** Passages with an embedding; 0 where the base was too large to be looked at. */
  embeddedCount: number;
  /** Changes whenever an embedding of the base is written or removed. */
  mark: string;
}

/** Number of the advisory lock under which workers claim passages; nothing else of ours takes it. */
const CLAIM_LOCK = 7_305_420;

/** A worker has a passage for so long. What it does not finish by then is done again by another one. */
const CLAIM_LEASE_MS = 120_000;

/** Bytes before the first number and before each further one of an array of numbers as Postgres sends it. */
const ARRAY_HEADER_BYTES = 20;
const ITEM_BYTES = 8;

/** SQL for a passage `c`, with its embedding `e` if it has one, that is to be embedded by the model `$1` of `$2` numbers. */
const IS_MISSING = `(e.chunk_id IS NULL OR e.model <> $1 OR (e.dimensions > 0 AND e.dimensions <> $2)
  OR (e.dimensions IS NULL AND e.lease_until < now()))`;

/**
 * SQL for passages `c` with their embeddings `e`. OFFSET 0 makes the planner look up the embedding of one passage after
 * the other, in the order of the passages' ids, whatever it believes about the tables: both statements that use this
 * want the first few.
 */
const CHUNKS = `chunks c LEFT JOIN LATERAL (
  SELECT chunk_id, model, dimensions, lease_until FROM chunk_embeddings WHERE chunk_id = c.id OFFSET 0
) e ON true`;

/** Embeddings of passages. One passage has one, of one model. */
export function chunkEmbeddingsTable(db: Db) {
  return {
    /** Makes this model the one of the installation: whoever is configured with another one stops embedding. */
    async announceModel({ model, dimensions }: EmbeddingModel): Promise<void> {
      await db.query(
        `INSERT INTO embedding_model AS m (model, dimensions) VALUES ($1, $2)
         ON CONFLICT (is_only_row) DO UPDATE SET model = excluded.model, dimensions = excluded.dimensions,
           chosen_at = now()
         WHERE (m.model, m.dimensions) IS DISTINCT FROM (excluded.model, excluded.dimensions)`,
        [model, dimensions],
      );
    },

    /** Whether this is the model of the installation. */
    async isModelOfInstallation({ model, dimensions }: EmbeddingModel): Promise<boolean> {
      const rows = await db.query("SELECT FROM embedding_model WHERE model = $1 AND dimensions = $2", [
        model,
        dimensions,
      ]);
      return rows.length > 0;
    },

    /**
     * The first passage, in the order of their ids, that is to be embedded; null when there is none. Looks at those
     * that were made since `sinceMs` (milliseconds since 1970; ids of passages carry their time) and at those whose
     * worker has vanished, which touches next to nothing when there is nothing to do. Since 0: at all of them.
     */
    async findFirstMissing({ model, dimensions }: EmbeddingModel, sinceMs: number): Promise<string | null> {
      const rows = await db.query<{ id: string }>(
        `(SELECT c.id FROM ${CHUNKS}
          WHERE c.id >= $3 AND ${IS_MISSING} ORDER BY c.id LIMIT 1)
         UNION ALL
         (SELECT chunk_id FROM chunk_embeddings WHERE dimensions IS NULL AND lease_until < now()
          ORDER BY chunk_id LIMIT 1)
         ORDER BY id LIMIT 1`,
        [model, dimensions, firstIdOf(sinceMs)],
      );
      return rows[0]?.id ?? null;
    },

    /**
     * Takes up to `limit` passages that are to be embedded, in the order of their ids beginning with `fromId`: for two
     * minutes they are nobody else's. None when this is not the model of the installation. Locks: workers take turns
     * by an advisory lock for the length of this transaction, so that each gets others; passages that are being
     * deleted are left out, and those that are taken cannot be deleted until it ends, a matter of milliseconds.
     */
    claim({ model, dimensions }: EmbeddingModel, fromId: string, limit: number): Promise<ClaimedChunk[]> {
      return db.transaction(async (tx) => {
        await tx.query("SELECT pg_advisory_xact_lock($1)", [CLAIM_LOCK]);
        const rows = await tx.query<ClaimedRow>(
          `WITH missing AS (
             SELECT c.id, c.project_id, c.kb_id FROM ${CHUNKS}
             WHERE c.id >= $3 AND ${IS_MISSING}
               AND EXISTS (SELECT FROM embedding_model WHERE model = $1 AND dimensions = $2)
               AND EXISTS (SELECT FROM kbs k WHERE k.id = c.kb_id AND k.deleted_at IS NULL)
             ORDER BY c.id LIMIT $4 FOR KEY SHARE OF c SKIP LOCKED
           ), claimed AS (
             INSERT INTO chunk_embeddings AS e (chunk_id, project_id, kb_id, model, lease_until)
             SELECT id, project_id, kb_id, $1, now() + $5 * interval '1 millisecond' FROM missing
             ON CONFLICT (chunk_id) DO UPDATE SET model = excluded.model, dimensions = NULL, embedding = NULL,
               lease_until = excluded.lease_until
             RETURNING e.chunk_id
           )
           SELECT c.id, d.title, c.heading_path, c.text
           FROM claimed m JOIN chunks c ON c.id = m.chunk_id JOIN documents d ON d.id = c.document_id
           ORDER BY c.id`,
          [model, dimensions, fromId, limit, CLAIM_LEASE_MS],
        );
        return rows.map((row) => ({
          chunkId: row.id,
          title: row.title,
          headingPath: row.heading_path,
          text: row.text,
        }));
      });
    },

    /**
     * Writes embeddings of passages that were claimed, and answers of how many. A passage that is gone by now, or that
     * another model has taken over, is left out; written twice, the last one stands. Locks the rows that it writes and
     * waits for none: one that is being deleted is left out.
     */
    async save(model: string, embeddings: readonly ChunkEmbedding[]): Promise<number> {
      const rows = await db.query(
        `WITH free AS (
           SELECT chunk_id FROM chunk_embeddings WHERE chunk_id = ANY ($2::uuid[]) AND model = $1
           FOR UPDATE SKIP LOCKED
         )
         UPDATE chunk_embeddings e SET embedding = i.embedding::real[],
           dimensions = coalesce(cardinality(i.embedding::real[]), 0), seq = DEFAULT, lease_until = NULL
         FROM unnest($2::uuid[], $3::text[]) AS i (chunk_id, embedding) JOIN free USING (chunk_id)
         WHERE e.chunk_id = i.chunk_id
         RETURNING e.chunk_id`,
        [
          model,
          embeddings.map(({ chunkId }) => chunkId),
          embeddings.map(({ embedding }) => (embedding === null ? null : `{${embedding.join(",")}}`)),
        ],
      );
      return rows.length;
    },

    /** Gives passages back that were claimed and are not embedded yet. */
    async release(model: string, chunkIds: readonly string[]): Promise<void> {
      await db.query(
        `UPDATE chunk_embeddings SET lease_until = '-infinity'
         WHERE model = $1 AND dimensions IS NULL AND chunk_id IN (
           SELECT chunk_id FROM chunk_embeddings WHERE chunk_id = ANY ($2::uuid[]) FOR UPDATE SKIP LOCKED)`,
        [model, chunkIds],
      );
    },

    /** How many passages there are, of how many the model has an embedding, and how many it refuses; of all projects. */
    async count(model: string): Promise<{ passages: number; embedded: number; refused: number }> {
      const rows = await db.query<{ passages: number; embedded: number; refused: number }>(
        `SELECT (SELECT coalesce(sum(chunk_count), 0) FROM kbs WHERE deleted_at IS NULL)::integer AS passages,
           (count(*) FILTER (WHERE dimensions > 0))::integer AS embedded,
           (count(*) FILTER (WHERE dimensions = 0))::integer AS refused
         FROM chunk_embeddings WHERE model = $1`,
        [model],
      );
      return rows[0] ?? { passages: 0, embedded: 0, refused: 0 };
    },

    /**
     * How far those of these knowledge bases are embedded that this project has. Reads the index alone; a base of more
     * than `maxChunks` passages is not counted.
     */
    async findMarks(
      project: ProjectId,
      { kbIds, model, maxChunks }: { kbIds: readonly string[]; model: string; maxChunks: number },
    ): Promise<EmbeddedKb[]> {
      const rows = await db.prepared<{ id: string; chunk_count: number; embedded_count: number; last_seq: number }>(
        "chunk_embeddings_marks",
        `SELECT k.id, k.chunk_count, m.embedded_count, m.last_seq
         FROM kbs k CROSS JOIN LATERAL (
           SELECT count(*)::integer AS embedded_count, coalesce(max(seq), 0) AS last_seq FROM chunk_embeddings
           WHERE kb_id = k.id AND model = $3 AND dimensions > 0 AND k.chunk_count <= $4
         ) m
         WHERE k.project_id = $1 AND k.id = ANY ($2::uuid[]) AND k.deleted_at IS NULL ORDER BY k.id`,
        [project, kbIds, model, maxChunks],
      );
      return rows.map((row) => ({
        kbId: row.id,
        chunkCount: row.chunk_count,
        embeddedCount: row.embedded_count,
        mark: `${row.embedded_count}:${row.last_seq}`,
      }));
    },

    /** The passages of a knowledge base that have an embedding of this model. */
    async listEmbedded(project: ProjectId, kbId: string, { model, dimensions }: EmbeddingModel): Promise<string[]> {
      const rows = await db.query<{ chunk_id: string }>(
        `SELECT chunk_id FROM chunk_embeddings
         WHERE project_id = $1 AND kb_id = $2 AND model = $3 AND dimensions > 0 AND dimensions = $4`,
        [project, kbId, model, dimensions],
      );
      return rows.map((row) => row.chunk_id);
    },

    /** The embeddings of these passages; those that have none of this model, or are not in these bases, are left out. */
    async read(
      project: ProjectId,
      kbIds: readonly string[],
      chunkIds: readonly string[],
      { model, dimensions }: EmbeddingModel,
    ): Promise<{ chunkId: string; embedding: Float32Array }[]> {
      // As bytes, which takes half the time of reading the numbers as text.
      const rows = await db.query<{ chunk_id: string; embedding: Buffer }>(
        `SELECT chunk_id, array_send(embedding) AS embedding FROM chunk_embeddings
         WHERE project_id = $1 AND kb_id = ANY ($2::uuid[]) AND chunk_id = ANY ($3::uuid[]) AND model = $4
           AND dimensions = $5`,
        [project, kbIds, chunkIds, model, dimensions],
      );
      return rows.map((row) => ({ chunkId: row.chunk_id, embedding: readArray(row.embedding, dimensions) }));
    },

    /** These passages as far as they are in these knowledge bases of this project, in any order. */
    async findChunks(project: ProjectId, kbIds: readonly string[], chunkIds: readonly string[]): Promise<FoundChunk[]> {
      const rows = await db.query<ChunkRow>(
        `SELECT c.id, c.document_id, c.kb_id, d.title, d.url, d.mime, c.ordinal, c.heading_path, c.text,
           c.page
         FROM chunks c JOIN documents d ON d.id = c.document_id
         WHERE c.project_id = $1 AND c.kb_id = ANY ($2::uuid[]) AND c.id = ANY ($3::uuid[])`,
        [project, kbIds, chunkIds],
      );
      return rows.map(asFound);
    },
  };
}

interface ClaimedRow {
  id: string;
  title: string;
  heading_path: string[];
  text: string;
}

/** The smallest UUID v7 of this moment or later (RFC 9562, section 5.7: the first 48 bits are milliseconds since 1970). */
function firstIdOf(timeMs: number): string {
  const hex = Math.max(0, Math.floor(timeMs)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Reads Postgres's binary form of a one-dimensional real[] without NULLs: a header, then each number with its length. */
function readArray(bytes: Buffer, dimensions: number): Float32Array {
  const numbers = new Float32Array(dimensions);
  for (let place = 0; place < dimensions; place += 1) {
    numbers[place] = bytes.readFloatBE(ARRAY_HEADER_BYTES + place * ITEM_BYTES + 4);
  }
  return numbers;
}

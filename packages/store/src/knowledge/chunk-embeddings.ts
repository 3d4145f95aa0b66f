import type { FoundChunk } from "./chunks.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("knowledge/chunk-embeddings");

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

/** Makes this model the one of the installation: processes with another one stop embedding. */
export const announceModel = (db: Db, { model, dimensions }: EmbeddingModel) =>
  sql.announceModel.exec(db, { model, dimensions });

/** Whether this is the model of the installation. */
export const isModelOfInstallation = (db: Db, { model, dimensions }: EmbeddingModel) =>
  sql.isModelOfInstallation.any(db, { model, dimensions });

/**
 * The first passage, in the order of their ids, that is to be embedded; null when there is none. Looks at those
 * that were made since `sinceMs` (milliseconds since 1970; ids of passages carry their time) and at those whose
 * worker has vanished, which touches next to nothing when there is nothing to do. Since 0: at all of them.
 */
export async function findFirstMissing(
  db: Db,
  { model, dimensions }: EmbeddingModel,
  sinceMs: number,
): Promise<string | null> {
  const row = await sql.findFirstMissing.one<{ id: string }>(db, { model, dimensions, id: firstIdOf(sinceMs) });
  return row?.id ?? null;
}

/**
 * Takes up to `limit` passages that are to be embedded, in the order of their ids beginning with `fromId`: for two
 * minutes they are nobody else's. None when this is not the model of the installation. Locks: workers take turns
 * by an advisory lock for the length of this transaction, so that each gets others; passages that are being
 * deleted are left out, and those that are taken cannot be deleted until it ends, a matter of milliseconds.
 */
export function claim(
  db: Db,
  { model, dimensions }: EmbeddingModel,
  fromId: string,
  limit: number,
): Promise<ClaimedChunk[]> {
  return db.transaction(async (tx) => {
    await sql.lockClaims.run(tx, { claimLock: CLAIM_LOCK });
    return sql.claim.all<ClaimedChunk>(tx, {
      model,
      dimensions,
      fromId,
      limit,
      claimLeaseMs: CLAIM_LEASE_MS,
    });
  });
}

/**
 * Writes embeddings of passages that were claimed, and returns their number. A passage that is gone by now, or that
 * another model has taken over, is left out; written twice, the last one stands. Locks the rows that it writes and
 * waits for none: one that is being deleted is left out.
 */
export const save = (db: Db, model: string, embeddings: readonly ChunkEmbedding[]) =>
  sql.save.run(db, {
    model,
    chunkId: embeddings.map(({ chunkId }) => chunkId),
    embedding: embeddings.map(({ embedding }) => (embedding === null ? null : `{${embedding.join(",")}}`)),
  });

/** Gives passages back that were claimed and are not embedded yet. */
export const release = (db: Db, model: string, chunkIds: readonly string[]) =>
  sql.release.exec(db, { model, chunkIds });

/** How many passages there are, of how many the model has an embedding, and how many it refuses; of all projects. */
export async function count(db: Db, model: string): Promise<{ passages: number; embedded: number; refused: number }> {
  const row = await sql.count.one<{ passages: number; embedded: number; refused: number }>(db, { model });
  return row ?? { passages: 0, embedded: 0, refused: 0 };
}

/**
 * How far those of these knowledge bases are embedded that this project has. Reads the index alone; a base of more
 * than `maxChunks` passages is not counted.
 */
export const findMarks = (
  db: Db,
  project: ProjectId,
  { kbIds, model, maxChunks }: { kbIds: readonly string[]; model: string; maxChunks: number },
) => sql.findMarks.all<EmbeddedKb>(db, { project, kbIds, model, maxChunks });

/** The passages of a knowledge base that have an embedding of this model. */
export async function listEmbedded(
  db: Db,
  project: ProjectId,
  kbId: string,
  { model, dimensions }: EmbeddingModel,
): Promise<string[]> {
  const rows = await sql.listEmbedded.all<{ chunkId: string }>(db, { project, kbId, model, dimensions });
  return rows.map((row) => row.chunkId);
}

/** The embeddings of these passages; those that have none of this model, or are not in these bases, are left out. */
export async function read(
  db: Db,
  project: ProjectId,
  { kbIds, chunkIds }: { kbIds: readonly string[]; chunkIds: readonly string[] },
  { model, dimensions }: EmbeddingModel,
): Promise<{ chunkId: string; embedding: Float32Array }[]> {
  const rows = await sql.read.all<{ chunkId: string; embedding: Buffer }>(db, {
    project,
    kbIds,
    chunkIds,
    model,
    dimensions,
  });
  return rows.map((row) => ({ chunkId: row.chunkId, embedding: readArray(row.embedding, dimensions) }));
}

/**
 * Makes pgvector usable where the server has it (0.8 or later), with an index for embeddings of so many numbers; false where
 * it has not, or this role may not create extensions. Idempotent. Building the index of existing embeddings locks their table
 * against writes.
 */
export async function prepareVectors(db: Db, dimensions: number): Promise<boolean> {
  const row = await sql.prepareVectors.one<{ isReady: boolean }>(db, { dimensions });
  return row?.isReady === true;
}

/** True if this database has pgvector. */
export const hasVectors = (db: Db) => sql.hasVectors.any(db);

/**
 * The passages of these knowledge bases that are closest to a query in meaning, closest first, with the cosine of their
 * embedding and the query's, -1 to 1. Needs pgvector (`hasVectors`); its index may miss a few of the closest.
 */
export const findClosest = (
  db: Db,
  project: ProjectId,
  search: { kbIds: readonly string[]; model: string; embedding: Float32Array; limit: number },
) =>
  sql.findClosest.all<{ chunkId: string; cosine: number }>(db, {
    ...search,
    project,
    embedding: Array.from(search.embedding),
  });

/** These passages as far as they are in these knowledge bases of this project, in any order. */
export const findChunks = (db: Db, project: ProjectId, kbIds: readonly string[], chunkIds: readonly string[]) =>
  sql.readPassages.all<FoundChunk>(db, { project, kbIds, chunkIds });

/**
 * The smallest UUID v7 of this moment or later (RFC 9562, section 5.7: the first 48 bits are milliseconds since 1970).
 */
function firstIdOf(timeMs: number): string {
  const hex = Math.max(0, Math.floor(timeMs)).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/**
 * Reads Postgres's binary form of a one-dimensional real[] without NULLs: a header, then each number with its length.
 */
function readArray(bytes: Buffer, dimensions: number): Float32Array {
  const numbers = new Float32Array(dimensions);
  for (let position = 0; position < dimensions; position += 1) {
    numbers[position] = bytes.readFloatBE(ARRAY_HEADER_BYTES + position * ITEM_BYTES + 4);
  }
  return numbers;
}

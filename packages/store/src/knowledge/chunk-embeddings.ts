import type { FoundChunk } from "./chunks.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("knowledge/chunk-embeddings");

/** An embedding model: its name and number of dimensions. */
export interface EmbeddingModel {
  model: string;
  dimensions: number;
}

/** A passage that a worker has claimed to embed. */
export interface ClaimedChunk {
  chunkId: string;
  title: string;
  headingPath: string[];
  text: string;
}

/** An embedding of length 1, or null for a passage that the endpoint rejects. */
export interface ChunkEmbedding {
  chunkId: string;
  embedding: Float32Array | null;
}

/** Progress of embedding a knowledge base. */
export interface EmbeddedKb {
  kbId: string;
  chunkCount: number;
  /** Passages with an embedding; 0 if the base is too large to be counted. */
  embeddedCount: number;
  /** Changes whenever an embedding of the base is written or removed. */
  mark: string;
}

/** Number of the advisory lock under which workers claim passages; used for nothing else. */
const CLAIM_LOCK = 7_305_420;

/** Duration of a claim. Passages that are not finished by then are claimed again. */
const CLAIM_LEASE_MS = 120_000;

/** Sizes in Postgres's binary format of a real[]: the header, and the length before each further number. */
const ARRAY_HEADER_BYTES = 20;
const ITEM_BYTES = 8;

/** Sets the embedding model of the installation: processes with another one stop embedding. */
export const announceModel = (db: Db, { model, dimensions }: EmbeddingModel) =>
  sql.announceModel.exec(db, { model, dimensions });

/** Returns true if this is the model of the installation. */
export const isModelOfInstallation = (db: Db, { model, dimensions }: EmbeddingModel) =>
  sql.isModelOfInstallation.any(db, { model, dimensions });

/**
 * Returns the first passage, by id, that has to be embedded; null if there is none. Checks passages created since
 * `sinceMs` (milliseconds since 1970; passage ids contain their time) and those with an expired claim, which costs
 * almost nothing if there are none. With 0, checks all of them.
 */
export async function findFirstMissing(
  db: Db,
  { model, dimensions }: EmbeddingModel,
  sinceMs: number,
): Promise<string | null> {
  const row = await sql.findFirstMissing.one(db, { model, dimensions, id: firstIdOf(sinceMs) });
  return row?.id ?? null;
}

/**
 * Claims up to `limit` passages that have to be embedded, by id from `fromId` on, for two minutes. Returns none if this
 * is not the model of the installation. An advisory lock serializes workers during this transaction, so that each gets
 * different passages; passages that are being deleted are skipped, and claimed ones cannot be deleted until the commit,
 * which takes milliseconds.
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
 * Saves embeddings of claimed passages, and returns their number. A passage that was deleted, or that another model has
 * claimed, is skipped; the last write wins. Locks the rows that it writes and waits for none: rows that are being
 * deleted are skipped.
 */
export const save = (db: Db, model: string, embeddings: readonly ChunkEmbedding[]) =>
  sql.save.run(db, {
    model,
    chunkId: embeddings.map(({ chunkId }) => chunkId),
    embedding: embeddings.map(({ embedding }) => (embedding === null ? null : `{${embedding.join(",")}}`)),
  });

/** Releases claimed passages that are not embedded yet. */
export const release = (db: Db, model: string, chunkIds: readonly string[]) =>
  sql.release.exec(db, { model, chunkIds });

/** Counts all passages, those with an embedding of the model, and those that the model rejects; of all projects. */
export async function count(db: Db, model: string): Promise<{ passages: number; embedded: number; refused: number }> {
  const row = await sql.count.one(db, { model });
  return row ?? { passages: 0, embedded: 0, refused: 0 };
}

/**
 * Returns how many passages of these knowledge bases of a project are embedded. Reads only the index; a base of more
 * than `maxChunks` passages is not counted.
 */
export const findMarks = (
  db: Db,
  project: ProjectId,
  { kbIds, model, maxChunks }: { kbIds: readonly string[]; model: string; maxChunks: number },
) => sql.findMarks.all<EmbeddedKb>(db, { project, kbIds, model, maxChunks });

/** Returns the passages of a knowledge base that have an embedding of this model. */
export async function listEmbedded(
  db: Db,
  project: ProjectId,
  kbId: string,
  { model, dimensions }: EmbeddingModel,
): Promise<string[]> {
  const rows = await sql.listEmbedded.all(db, { project, kbId, model, dimensions });
  return rows.map((row) => row.chunkId);
}

/** Returns the embeddings of these passages; passages without one of this model, or in other bases, are skipped. */
export async function read(
  db: Db,
  project: ProjectId,
  { kbIds, chunkIds }: { kbIds: readonly string[]; chunkIds: readonly string[] },
  { model, dimensions }: EmbeddingModel,
): Promise<{ chunkId: string; embedding: Float32Array }[]> {
  const rows = await sql.read.all(db, {
    project,
    kbIds,
    chunkIds,
    model,
    dimensions,
  });
  return rows.map((row) => ({ chunkId: row.chunkId, embedding: readArray(row.embedding, dimensions) }));
}

/**
 * Prepares pgvector if the server has it (0.8 or later), with an index for embeddings with this number of dimensions;
 * returns false if it is missing, or if this role may not create extensions. Idempotent. Building the index of existing
 * embeddings locks their table against writes.
 */
export async function prepareVectors(db: Db, dimensions: number): Promise<boolean> {
  const row = await sql.prepareVectors.one(db, { dimensions });
  return row?.isReady === true;
}

/** Returns true if this database has pgvector. */
export const hasVectors = (db: Db) => sql.hasVectors.any(db);

/**
 * Returns the passages of these knowledge bases that are closest to a query in meaning, closest first, with the cosine
 * of their embedding and the query's, -1 to 1. Needs pgvector (`hasVectors`); its index may miss a few of the closest.
 */
export const findClosest = (
  db: Db,
  project: ProjectId,
  search: { kbIds: readonly string[]; model: string; embedding: Float32Array; limit: number },
) =>
  sql.findClosest.all(db, {
    ...search,
    project,
    embedding: Array.from(search.embedding),
  });

/** Returns those of these passages that are in these knowledge bases of the project, in any order. */
export const findChunks = (db: Db, project: ProjectId, kbIds: readonly string[], chunkIds: readonly string[]) =>
  sql.readPassages.all<FoundChunk>(db, { project, kbIds, chunkIds });

/** Returns the smallest UUID v7 of a time (RFC 9562, section 5.7: the first 48 bits are milliseconds since 1970). */
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

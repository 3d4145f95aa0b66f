import { createBriefCache } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { searchEach } from "../search-knowledge.ts";
import type { GroupSearch, SearchResult } from "../search-knowledge.ts";
import { openVectorCache, addRows, createVectorTable, findClosestRows, findCosine } from "./open-vector-cache.ts";
import type { VectorCacheOptions, VectorTable } from "./open-vector-cache.ts";

/** Passages to compare with a query semantically. */
interface MeaningQuery {
  kbIds: readonly string[];
  /** Embedding of the query, of length 1. */
  embedding: Float32Array;
  /** Lexical matches, best first. They are always compared. */
  chunkIds: readonly string[];
  /** Number of closest passages to find. */
  limit: number;
}

/** Result of the comparison. */
interface MeaningComparison {
  /** IDs of the closest passages, closest first: of all passages, or of `chunkIds` if the engine cannot compare all. */
  closest: string[];
  /** Cosines of passages and query, -1 to 1: of all in `closest`, and of those of `chunkIds` with an embedding. */
  cosines: ReadonlyMap<string, number>;
}

/**
 * Finds passages: by default in PostgreSQL and the memory of the process. Another engine, such as OpenSearch,
 * implements these functions; documents stay in PostgreSQL, which it follows.
 * `tests/packages/knowledge/search-engines.test.ts` is the contract. Only passages of the given project and knowledge
 * bases are found, and no deleted ones; a change is visible within about two seconds. Both functions reject if the
 * engine does not work.
 */
export interface SearchEngine {
  /** Returns the best lexical matches of a query, in each group of knowledge bases separately, in order. */
  findByWords(project: ProjectId, search: GroupSearch): Promise<SearchResult[]>;
  compareMeanings(project: ProjectId, search: MeaningQuery): Promise<MeaningComparison>;
  /** Stops background work and resolves when the store is no longer used. */
  close(): Promise<void>;
}

/** Cache time for whether the database has pgvector. */
const VECTORS_FRESH_MS = 60_000;

type Compare = (project: ProjectId, search: MeaningQuery) => Promise<MeaningComparison | null>;

function compareTables(
  tables: readonly VectorTable[],
  { embedding, chunkIds, limit }: MeaningQuery,
): MeaningComparison {
  const found = findClosestRows(tables, embedding, limit);
  const cosines = new Map(found.map(({ chunkId, cosine }) => [chunkId, cosine]));
  for (const id of chunkIds) {
    const cosine = cosines.get(id) ?? findCosine(tables, embedding, id);
    if (cosine !== undefined) cosines.set(id, cosine);
  }
  return { closest: found.map(({ chunkId }) => chunkId), cosines };
}

/** Compares only the lexical matches. */
async function compareFound(
  { store, model }: VectorCacheOptions,
  project: ProjectId,
  search: MeaningQuery,
): Promise<MeaningComparison> {
  const { kbIds, chunkIds, embedding } = search;
  const dimensions = embedding.length;
  const rows = await store.chunkEmbeddings.read(project, { kbIds, chunkIds }, { model, dimensions });
  const table = createVectorTable(dimensions, rows.length);
  addRows(table, rows);
  return compareTables([table], search);
}

/** Compares in memory; null if the knowledge bases cannot be compared as a whole. */
function compareInMemory(options: VectorCacheOptions): { compare: Compare; close: () => Promise<void> } {
  const vectors = openVectorCache(options);
  return {
    async compare(project, search) {
      const tables = await vectors.find(project, search.kbIds, search.embedding.length);
      return tables === null ? null : compareTables(tables, search);
    },
    close: () => vectors.close(),
  };
}

/** Compares with pgvector; null if the database does not have it. */
function compareInDatabase(options: VectorCacheOptions): Compare {
  const { store, model } = options;
  const known = createBriefCache<boolean>(VECTORS_FRESH_MS);
  return async (project, search) => {
    if ((await known.get("vectors", () => store.chunkEmbeddings.hasVectors())) !== true) return null;
    const { kbIds, embedding, limit, chunkIds } = search;
    const found = await store.chunkEmbeddings.findClosest(project, { kbIds, model, embedding, limit });
    const cosines = new Map(found.map(({ chunkId, cosine }) => [chunkId, cosine]));
    const others = { ...search, chunkIds: chunkIds.filter((id) => !cosines.has(id)) };
    const rest = await compareFound(options, project, others);
    return { closest: found.map(({ chunkId }) => chunkId), cosines: new Map([...rest.cosines, ...cosines]) };
  };
}

const findByWords =
  (store: Pick<Store, "kbs" | "chunks">): SearchEngine["findByWords"] =>
  (project, search) =>
    searchEach({ store }, project, search);

/**
 * Creates an engine that compares all passages with pgvector, whatever their number; without it, only the lexical
 * matches.
 */
export function createPgvectorEngine(options: VectorCacheOptions): SearchEngine {
  const compare = compareInDatabase(options);
  return {
    findByWords: findByWords(options.store),
    compareMeanings: async (project, search) =>
      (await compare(project, search)) ?? compareFound(options, project, search),
    close: () => Promise.resolve(),
  };
}

/**
 * Creates the product's engine. It compares all passages in memory, in knowledge bases of up to 20,000 passages
 * together; in larger ones, or while their embeddings are still being read, with pgvector if the database has it, else
 * only the lexical matches.
 */
export function createSearchEngine(options: VectorCacheOptions): SearchEngine {
  const memory = compareInMemory(options);
  const database = createPgvectorEngine(options);
  return {
    ...database,
    compareMeanings: async (project, search) =>
      (await memory.compare(project, search)) ?? database.compareMeanings(project, search),
    close: memory.close,
  };
}

import { createBriefCache } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { searchEach } from "../search-knowledge.ts";
import type { SearchResult } from "../search-knowledge.ts";
import { keepVectors } from "./keep-vectors.ts";
import type { KeepVectorsOptions } from "./keep-vectors.ts";
import { addRows, createVectorTable, findClosestRows, findCosine } from "./vector-table.ts";
import type { VectorTable } from "./vector-table.ts";

/** Passages to compare with a query by meaning. */
export interface MeaningQuery {
  kbIds: readonly string[];
  /** Of the query, of length 1. */
  embedding: Float32Array;
  /** Passages that were found by words, best first. They are compared in any case. */
  chunkIds: readonly string[];
  /** How many of the closest passages to find. */
  limit: number;
}

/** Passages compared with a query by meaning. */
export interface MeaningComparison {
  /**
   * IDs of the closest passages, closest first: of all passages, or of `chunkIds` where an engine cannot compare all of
   * them.
   */
  closest: string[];
  /** Cosines of the embeddings of passages and query, -1 to 1: of all in `closest`, and of those of `chunkIds` that have one. */
  cosines: ReadonlyMap<string, number>;
}

/**
 * What finds passages: PostgreSQL and the memory of the process by default. Another one, such as OpenSearch, has these two
 * functions; documents stay in PostgreSQL, and it follows them there. `tests/packages/knowledge/search-engines.test.ts` is
 * the contract. Only passages of the given project and knowledge bases are found, and none that is deleted; a change is seen
 * within about two seconds. Both functions reject if the engine does not work.
 */
export interface SearchEngine {
  /** Finds the passages that match a query best by their words, in each group of knowledge bases by itself, in their order. */
  findByWords(
    project: ProjectId,
    search: { query: string; kbGroups: readonly (readonly string[])[]; limit: number },
  ): Promise<SearchResult[]>;
  compareMeanings(project: ProjectId, search: MeaningQuery): Promise<MeaningComparison>;
  /** Stops background work and resolves when the store is no longer used. */
  close(): Promise<void>;
}

/** How long it is believed that the database has, or does not have, pgvector. */
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

/** Compares the passages that were found by words, and no others. */
async function compareFound(
  { store, model }: KeepVectorsOptions,
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
function compareInMemory(options: KeepVectorsOptions): { compare: Compare; close: () => Promise<void> } {
  const vectors = keepVectors(options);
  return {
    async compare(project, search) {
      const tables = await vectors.find(project, search.kbIds, search.embedding.length);
      return tables === null ? null : compareTables(tables, search);
    },
    close: () => vectors.close(),
  };
}

/** Compares by pgvector; null if the database does not have it. */
function compareInDatabase(options: KeepVectorsOptions): Compare {
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
 * An engine that compares all passages in memory, in knowledge bases of up to 20,000 passages together; in larger ones, or
 * while their embeddings are still being read, only those that were found by words.
 */
export function createMemoryEngine(options: KeepVectorsOptions): SearchEngine {
  const { compare, close } = compareInMemory(options);
  return {
    findByWords: findByWords(options.store),
    compareMeanings: async (project, search) =>
      (await compare(project, search)) ?? compareFound(options, project, search),
    close,
  };
}

/** An engine that compares all passages by pgvector, however many; without it, only those that were found by words. */
export function createPgvectorEngine(options: KeepVectorsOptions): SearchEngine {
  const compare = compareInDatabase(options);
  return {
    findByWords: findByWords(options.store),
    compareMeanings: async (project, search) =>
      (await compare(project, search)) ?? compareFound(options, project, search),
    close: () => Promise.resolve(),
  };
}

/** The engine of the product: in memory as far as that goes, else by pgvector where the database has it. */
export function createSearchEngine(options: KeepVectorsOptions): SearchEngine {
  const memory = compareInMemory(options);
  const database = createPgvectorEngine(options);
  return {
    ...database,
    compareMeanings: async (project, search) =>
      (await memory.compare(project, search)) ?? database.compareMeanings(project, search),
    close: memory.close,
  };
}

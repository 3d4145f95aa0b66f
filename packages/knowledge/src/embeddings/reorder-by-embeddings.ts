import type { Log } from "@svc/log";
import { isUuid } from "@svc/primitives";
import type { ProjectId, Store } from "@svc/store";
import type { GroupSearch, SearchResult } from "../search-knowledge.ts";
import type { SearchEngine } from "./search-engine.ts";

/** Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009). */
const RANK_CONSTANT = 60;

const worthOf = (rank: number) => 1 / (RANK_CONSTANT + rank + 1);

/** Number of the best lexical matches that are reordered. Rankings do not depend on the requested number of results. */
const EMBEDDING_CANDIDATES = 100;

/** Number of passages whose semantic rank counts. */
const MAX_BY_MEANING = 200;

/** Additional passages to read, because some may have just been deleted. */
const SPARE = 10;

/** Fields of a lexical match that are needed to reorder it. */
interface LexicalHit {
  chunkId: string;
  score: number;
}

/** A passage that only the semantic search found: it has none of the words of the query, and so no score. */
interface MeaningHit {
  chunkId: string;
  documentId: string;
  kbId: string;
  title: string;
  url?: string;
  ordinal: number;
  headingPath: string[];
  text: string;
  page?: number;
  markdown: boolean;
  score: number;
}

/** A passage in the final order, with the cosine of its embedding and the query's, -1 to 1, if both are known. */
type ReorderedHit<Hit> = (Hit | MeaningHit) & { similarity?: number };

/** Dependencies of a search by words and meaning. */
interface MeaningDeps {
  store: Pick<Store, "chunkEmbeddings">;
  engine: SearchEngine;
  /** Returns the embedding of a query; null if there is none in time. Never rejects. */
  embedQuery: (query: string) => Promise<Float32Array | null>;
  log: Log;
}

/**
 * Orders the passages of a lexical search by reciprocal rank fusion of their lexical and semantic ranks, and cuts them
 * to `limit`. If the engine compares all passages with the query (`SearchEngine.compareMeanings`), a passage without
 * common words is found too; otherwise only `hits`. Scores stay the same; a passage found only by its meaning has 0.
 *
 * Falls back to the lexical order without an embedding of the query within 0.8 s, and on any error. Never rejects.
 * `hits` are the best lexical matches, best first, about `EMBEDDING_CANDIDATES` of them; `asked` is the pending
 * embedding of the query.
 */
async function reorderByEmbeddings<Hit extends LexicalHit>(
  deps: MeaningDeps,
  project: ProjectId,
  search: {
    kbIds: readonly string[];
    hits: readonly Hit[];
    limit: number;
    asked: Promise<Float32Array | null>;
  },
): Promise<ReorderedHit<Hit>[]> {
  try {
    const embedding = await search.asked;
    const kbIds = search.kbIds.filter(isUuid);
    if (embedding !== null) return await reorder(deps, project, { ...search, kbIds, embedding });
  } catch (error) {
    deps.log.warn({ error }, "failed to rank passages by meaning; using the keyword ranking");
  }
  return search.hits.slice(0, search.limit);
}

async function reorder<Hit extends LexicalHit>(
  { store, engine }: MeaningDeps,
  project: ProjectId,
  search: { kbIds: readonly string[]; hits: readonly Hit[]; limit: number; embedding: Float32Array },
): Promise<ReorderedHit<Hit>[]> {
  const { kbIds, hits, limit, embedding } = search;
  const lexicalIds = hits.map(({ chunkId }) => chunkId);
  const compared = { kbIds, embedding, chunkIds: lexicalIds, limit: MAX_BY_MEANING };
  const { closest, cosines } = await engine.compareMeanings(project, compared);
  const order = fuseRanks(lexicalIds, closest, (id) => cosines.has(id)).slice(0, limit + SPARE);

  const byId = new Map<string, Hit | MeaningHit>(hits.map((hit) => [hit.chunkId, hit]));
  const unknown = order.filter((id) => !byId.has(id));
  const found = unknown.length === 0 ? [] : await store.chunkEmbeddings.findChunks(project, kbIds, unknown);
  for (const { url, mime, page, ...chunk } of found) {
    const known = { ...(url === null ? {} : { url }), ...(page === null ? {} : { page }) };
    byId.set(chunk.chunkId, { ...chunk, ...known, markdown: mime === "text/markdown", score: 0 });
  }
  return order
    .flatMap((id): ReorderedHit<Hit>[] => {
      const hit = byId.get(id);
      const similarity = cosines.get(id);
      if (hit === undefined) return [];
      return [similarity === undefined ? hit : { ...hit, similarity }];
    })
    .slice(0, limit);
}

/**
 * Merges two orders by reciprocal rank: the best of `byWords` and the best of `byMeaning`, best first. A passage
 * without an embedding yet (`hasMeaning` is false) gets its lexical rank for both, so that a new document is not at a
 * disadvantage. Ties are broken by the lexical rank.
 */
export function fuseRanks(
  byWords: readonly string[],
  byMeaning: readonly string[],
  hasMeaning: (id: string) => boolean,
): string[] {
  const worths = new Map<string, number>();
  const add = (id: string, worth: number) => worths.set(id, (worths.get(id) ?? 0) + worth);
  for (const [rank, id] of byWords.entries()) add(id, worthOf(rank) * (hasMeaning(id) ? 1 : 2));
  for (const [rank, id] of byMeaning.entries()) add(id, worthOf(rank));
  // The sort is stable, and lexical matches were added first.
  return [...worths].sort(([, a], [, b]) => b - a).map(([id]) => id);
}

/**
 * Searches like `searchEach`, by words and meaning: passages have their similarity to the query (see
 * `reorderByEmbeddings`). Scores are lexical: a passage found only by its meaning has 0, and the first passage need not
 * have the highest score. The query is embedded once.
 */
export async function searchByMeaning(
  deps: MeaningDeps,
  project: ProjectId,
  search: GroupSearch,
): Promise<SearchResult[]> {
  const { query, limit, kbGroups } = search;
  // Both run concurrently. This one never rejects, so it is not left unhandled when the search rejects.
  const asked = deps.embedQuery(query);
  const wide = { ...search, limit: Math.max(limit, EMBEDDING_CANDIDATES) };
  const results = await deps.engine.findByWords(project, wide);
  return Promise.all(
    results.map(async (found, at): Promise<SearchResult> => {
      const wanted = { kbIds: kbGroups[at] ?? [], hits: found.hits, limit, asked };
      return { ...found, hits: await reorderByEmbeddings(deps, project, wanted) };
    }),
  );
}

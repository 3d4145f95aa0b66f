import { isUuid } from "@svc/primitives";
import type { ProjectId, Store } from "@svc/store";
import { NOTHING_FOUND, searchEach } from "../search-knowledge.ts";
import type { SearchResult } from "../search-knowledge.ts";
import type { Embeddings } from "./create-embedder.ts";

/** What the first ranks count against the further ones (Cormack, Clarke and Büttcher, SIGIR 2009). */
const RANK_CONSTANT = 60;

const worthOf = (rank: number) => 1 / (RANK_CONSTANT + rank + 1);

/**
 * How many of the best passages found by words a search passes on to be reordered. A search for this many ranks them as
 * a search for a few does.
 */
export const EMBEDDING_CANDIDATES = 100;

/** Passages whose rank by meaning counts. */
const MAX_BY_MEANING = 200;

/** Passages that are read beyond what is wanted, since one that was deleted a moment ago may be among them. */
const SPARE = 10;

/** What a passage found by words needs to have to be put in order. */
export interface LexicalHit {
  chunkId: string;
  score: number;
}

/** A passage that was found by its meaning alone: it has none of the words of the query, and so no score. */
export interface MeaningHit {
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

/** A passage in its place, with the cosine of its embedding and the query's, -1 to 1, where both are known. */
export type ReorderedHit<Hit> = (Hit | MeaningHit) & { similarity?: number };

/**
 * Puts the passages that a search found by words in the order of reciprocal rank fusion of their rank by words and
 * their rank by meaning, and cuts them to `limit`. Where the engine compares all passages with the query
 * (`SearchEngine.compareMeanings`), one without any common word is found too; else only `hits`. Scores stay what they
 * were; a passage found by its meaning alone has 0.
 *
 * Nothing depends on it: without an embedding of the query within 0.8 s, or when anything fails, the order by words
 * stands. Never rejects. `hits` are the best ones by words, best first, about `EMBEDDING_CANDIDATES` of them; `asked`
 * is the embedding of the query where it is on its way already.
 */
export async function reorderByEmbeddings<Hit extends LexicalHit>(
  deps: { store: Store; embeddings: Embeddings },
  project: ProjectId,
  search: {
    query: string;
    kbIds: readonly string[];
    hits: readonly Hit[];
    limit: number;
    asked?: Promise<Float32Array | null>;
  },
): Promise<ReorderedHit<Hit>[]> {
  const { embeddings } = deps;
  try {
    const embedding = await (search.asked ?? embeddings.embedder.embedQuery(search.query));
    const kbIds = search.kbIds.filter(isUuid);
    if (embedding !== null) return await reorder(deps, project, { ...search, kbIds, embedding });
  } catch (error) {
    embeddings.log.warn({ error }, "failed to rank passages by meaning; using the keyword ranking");
  }
  return search.hits.slice(0, search.limit);
}

async function reorder<Hit extends LexicalHit>(
  { store, embeddings }: { store: Store; embeddings: Embeddings },
  project: ProjectId,
  search: { kbIds: readonly string[]; hits: readonly Hit[]; limit: number; embedding: Float32Array },
): Promise<ReorderedHit<Hit>[]> {
  const { kbIds, hits, limit, embedding } = search;
  const lexicalIds = hits.map(({ chunkId }) => chunkId);
  const compared = { kbIds, embedding, chunkIds: lexicalIds, limit: MAX_BY_MEANING };
  const { closest, cosines } = await embeddings.engine.compareMeanings(project, compared);
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
 * Puts two orders together by reciprocal rank: the best of `byWords` and the best of `byMeaning`, best first. What has
 * no embedding yet (`hasMeaning` is false) is taken to mean as much as its words say, so that a new document does not
 * fall behind. Among equals the one with the better rank by words comes first.
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
  // The sort is stable, and what was found by words was noted first.
  return [...worths].sort(([, a], [, b]) => b - a).map(([id]) => id);
}

/**
 * `searchKnowledge`, and where embeddings are configured, its passages in the order of words and meaning, with their
 * similarity to the query (see `reorderByEmbeddings`). Scores are those of the search by words: a passage found by its
 * meaning alone has 0, and the first passage need not have the highest score.
 */
export async function searchWithEmbeddings(
  deps: { store: Store; embeddings: Embeddings | null },
  project: ProjectId,
  search: { query: string; kbIds: readonly string[]; limit: number },
): Promise<SearchResult> {
  const [found] = await searchEachWithEmbeddings(deps, project, { ...search, kbGroups: [search.kbIds] });
  return found ?? NOTHING_FOUND;
}

/** `searchEach`, each group as by `searchWithEmbeddings`; the query is embedded once. */
export async function searchEachWithEmbeddings(
  deps: { store: Store; embeddings: Embeddings | null },
  project: ProjectId,
  search: { query: string; kbGroups: readonly (readonly string[])[]; limit: number },
): Promise<SearchResult[]> {
  const { store, embeddings } = deps;
  if (embeddings === null) return searchEach({ store }, project, search);
  const { query, limit } = search;
  // Both are on their way at once. This never rejects, so nothing is lost when the search does.
  const asked = embeddings.embedder.embedQuery(query);
  const wide = { ...search, limit: Math.max(limit, EMBEDDING_CANDIDATES) };
  const results = await embeddings.engine.findByWords(project, wide);
  return Promise.all(
    results.map(async (found, at): Promise<SearchResult> => {
      const wanted = { query, kbIds: search.kbGroups[at] ?? [], hits: found.hits, limit, asked };
      return { ...found, hits: await reorderByEmbeddings({ store, embeddings }, project, wanted) };
    }),
  );
}

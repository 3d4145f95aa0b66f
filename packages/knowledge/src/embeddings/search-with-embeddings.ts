import type { ProjectId, Store } from "@svc/store";
import { searchKnowledge } from "../search-knowledge.ts";
import type { SearchHit, SearchResult } from "../search-knowledge.ts";
import type { Embeddings } from "./open-embeddings.ts";
import { EMBEDDING_CANDIDATES, reorderByEmbeddings } from "./reorder-by-embeddings.ts";

/** What a search by words and by meaning found, best first. */
export interface MeaningSearchResult extends SearchResult {
  /** `similarity` is the cosine of passage and query, where both have an embedding. */
  hits: (SearchHit & { similarity?: number })[];
}

/**
 * `searchKnowledge`, and where an embedding endpoint is configured, its passages in the order of words and meaning (see
 * `reorderByEmbeddings`). Scores are those of the search by words: a passage found by its meaning alone has 0, and the
 * first passage need not have the highest score.
 */
export async function searchWithEmbeddings(
  deps: { store: Store; embeddings: Embeddings | null },
  project: ProjectId,
  search: { query: string; kbIds: readonly string[]; limit: number },
): Promise<MeaningSearchResult> {
  const { store, embeddings } = deps;
  if (embeddings === null) return searchKnowledge({ store }, project, search);
  // Both are on their way at once. This never rejects, so nothing is lost when the search does.
  const asked = embeddings.embedder.embedQuery(search.query);
  const limit = Math.max(search.limit, EMBEDDING_CANDIDATES);
  const found = await searchKnowledge({ store }, project, { ...search, limit });
  const hits = await reorderByEmbeddings({ store, embeddings }, project, { ...search, hits: found.hits, asked });
  return { ...found, hits };
}

import type { ProjectId, Store } from "@svc/store";
import { searchKnowledge } from "../search-knowledge.ts";
import type { SearchResult } from "../search-knowledge.ts";
import type { Embeddings } from "./open-embeddings.ts";
import { EMBEDDING_CANDIDATES, reorderByEmbeddings } from "./reorder-by-embeddings.ts";

/**
 * `searchKnowledge`, and where embeddings are configured, its passages in the order of words and meaning, with their
 * similarity to the query (see `reorderByEmbeddings`). Scores are those of the search by words: a passage found by its meaning alone has 0, and the
 * first passage need not have the highest score.
 */
export async function searchWithEmbeddings(
  deps: { store: Store; embeddings: Embeddings | null },
  project: ProjectId,
  search: { query: string; kbIds: readonly string[]; limit: number },
): Promise<SearchResult> {
  const { store, embeddings } = deps;
  if (embeddings === null) return searchKnowledge({ store }, project, search);
  // Both are on their way at once. This never rejects, so nothing is lost when the search does.
  const asked = embeddings.embedder.embedQuery(search.query);
  const limit = Math.max(search.limit, EMBEDDING_CANDIDATES);
  const found = await searchKnowledge({ store }, project, { ...search, limit });
  const hits = await reorderByEmbeddings({ store, embeddings }, project, { ...search, hits: found.hits, asked });
  return { ...found, hits };
}

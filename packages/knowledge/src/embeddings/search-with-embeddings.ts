import type { ProjectId, Store } from "@svc/store";
import { NOTHING_FOUND, searchEach } from "../search-knowledge.ts";
import type { SearchResult } from "../search-knowledge.ts";
import type { Embeddings } from "./open-embeddings.ts";
import { EMBEDDING_CANDIDATES, reorderByEmbeddings } from "./reorder-by-embeddings.ts";

/**
 * `searchKnowledge`, and where embeddings are configured, its passages in the order of words and meaning, with their
 * similarity to the query (see `reorderByEmbeddings`). Scores are those of the search by words: a passage found by its meaning
 * alone has 0, and the first passage need not have the highest score.
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
  const results = await searchEach({ store }, project, { ...search, limit: Math.max(limit, EMBEDDING_CANDIDATES) });
  return Promise.all(
    results.map(async (found, at): Promise<SearchResult> => {
      const wanted = { query, kbIds: search.kbGroups[at] ?? [], hits: found.hits, limit, asked };
      return { ...found, hits: await reorderByEmbeddings({ store, embeddings }, project, wanted) };
    }),
  );
}

import { MAX_SATURATION } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { postgresConfigOf } from "@svc/text";
import { queryWords } from "./query-words.ts";

/** A passage that a search found. */
export interface SearchHit {
  documentId: string;
  kbId: string;
  chunkId: string;
  title: string;
  url?: string;
  /** The headings that it stands under, outermost first. */
  headingPath: string[];
  /** The passage as it stands in the document. */
  text: string;
  /** Whether `text` is Markdown; else it is plain text. */
  markdown: boolean;
  score: number;
}

/** What a search found, best first. */
export interface SearchResult {
  hits: SearchHit[];
  /** The score of a passage that had every word of the query as often as could be; no score is higher. */
  bestPossible: number;
  /**
   * What the query was searched for, and how rare each word is in these knowledge bases: the rarer the heavier. Another
   * form of a word that has come before weighs nothing.
   */
  words: { word: string; weight: number }[];
}

/** Of a long query, the words that count for its best possible score: as many as are searched for. */
const MAX_SCORED_WORDS = 32;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Finds the passages that match a query best, by BM25 over text, headings and title, in those of the knowledge bases
 * that belong to this project. Any query is fine, however long and whatever it holds; one without words finds nothing.
 * What it costs is bounded: at most the 32 rarest of its words are searched for.
 */
export async function searchKnowledge(
  deps: { store: Store },
  project: ProjectId,
  search: { query: string; kbIds: readonly string[]; limit: number },
): Promise<SearchResult> {
  const kbs = await deps.store.kbs.findAll(
    project,
    search.kbIds.filter((id) => UUID.test(id)),
  );
  const languages = [...new Set(kbs.flatMap((kb) => kb.languages))];
  const words = queryWords(search.query, languages);
  if (words.length === 0 || languages.length === 0) return { hits: [], bestPossible: 0, words: [] };
  const configs = [...new Set(languages.map(postgresConfigOf))];
  const { hits, weights } = await deps.store.chunks.search(project, {
    kbIds: kbs.map((kb) => kb.id),
    words: words.flatMap((word, place) => configs.map((textSearchConfig) => ({ place, word, textSearchConfig }))),
    limit: search.limit,
  });
  const weighed = words.map((word, place) => ({ word, weight: weights.get(place) ?? 0 }));
  const heaviest = weighed.map(({ weight }) => weight).sort((a, b) => b - a);
  const bestPossible = heaviest.slice(0, MAX_SCORED_WORDS).reduce((sum, weight) => sum + weight * MAX_SATURATION, 0);
  return {
    hits: hits.map(({ url, mime, ...hit }) => ({
      ...hit,
      ...(url === null ? {} : { url }),
      markdown: mime === "text/markdown",
    })),
    bestPossible,
    words: weighed,
  };
}

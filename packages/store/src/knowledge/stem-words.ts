import type { Db } from "../db.ts";

/** Words whose stems are kept: about 10 MB at most. */
const MAX_KEPT = 100_000;

/** Words that one statement stems. */
const STEM_BATCH = 20_000;

/** Stems words with Postgres's own stemmers: `stem(config, words)` answers the stem of each of the words. */
export type StemWords = (config: string, words: Iterable<string>, on?: Db) => Promise<Map<string, string>>;

/**
 * Makes a stemmer that keeps what it has learnt: the same words come again and again, and a round trip costs more than
 * the stemming. A language that this version of Postgres has no stemmer for is taken word by word, and so is a word
 * that the stemmer takes for a stop word.
 */
export function createStemmer(db: Db): StemWords {
  const kept = new Map<string, string>();
  return async (config, words, on = db) => {
    const stems = new Map<string, string>();
    const unknown: string[] = [];
    for (const word of new Set(words)) {
      const stem = kept.get(`${config} ${word}`);
      if (stem === undefined) unknown.push(word);
      else stems.set(word, stem);
    }
    for (let first = 0; first < unknown.length; first += STEM_BATCH) {
      const batch = unknown.slice(first, first + STEM_BATCH);
      const rows = await on.query<{ stem: string }>(
        `SELECT coalesce((ts_lexize(d.dictionary, w.word))[1], w.word) AS stem
         FROM unnest($1::text[]) WITH ORDINALITY AS w (word, place) CROSS JOIN (
           SELECT coalesce((SELECT oid FROM pg_catalog.pg_ts_dict WHERE dictname = $2 || '_stem'
             AND dictnamespace = 'pg_catalog'::regnamespace), 'pg_catalog.simple'::regdictionary)::regdictionary
             AS dictionary
         ) AS d ORDER BY w.place`,
        [batch, config],
      );
      if (kept.size + batch.length > MAX_KEPT) kept.clear();
      for (const [index, word] of batch.entries()) {
        const stem = rows[index]?.stem ?? word;
        stems.set(word, stem);
        kept.set(`${config} ${word}`, stem);
      }
    }
    return stems;
  };
}

import { stateOf } from "../context.ts";
import type { Db } from "../db.ts";
import { statements } from "../sql.ts";

const sql = statements("knowledge/stem-words");

/** Words whose stems are kept: about 10 MB at most. */
const MAX_KEPT = 100_000;

/** Words that one statement stems. */
const STEM_BATCH = 20_000;

/** Stems that were found. */
const stemsOf = stateOf((_db: Db) => new Map<string, string>());

/**
 * Returns the stem of each of the words, by Postgres's own stemmers. Known stems are kept: the same words come again and
 * again, and a round trip costs more than the stemming. A language that this version of Postgres has no stemmer for is
 * taken word by word, and so is a word that the stemmer takes for a stop word.
 */
export async function stem(db: Db, config: string, words: Iterable<string>, on: Db = db): Promise<Map<string, string>> {
  const kept = stemsOf(db);
  const stems = new Map<string, string>();
  const unknown: string[] = [];
  for (const word of new Set(words)) {
    const known = kept.get(`${config} ${word}`);
    if (known === undefined) unknown.push(word);
    else stems.set(word, known);
  }
  for (let first = 0; first < unknown.length; first += STEM_BATCH) {
    const batch = unknown.slice(first, first + STEM_BATCH);
    const rows = await sql.stem.all<{ stem: string }>(on, { word: batch, config });
    if (kept.size + batch.length > MAX_KEPT) kept.clear();
    for (const [index, word] of batch.entries()) {
      const found = rows[index]?.stem ?? word;
      stems.set(word, found);
      kept.set(`${config} ${word}`, found);
    }
  }
  return stems;
}

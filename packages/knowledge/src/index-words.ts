import { setImmediate as nextTurn } from "node:timers/promises";
import { cutText, foldAccents, stopWords, tokenize } from "@svc/text";
import { addPosting, formBit } from "@svc/store";
import type { IndexedChunks, NewChunk, TermPostings } from "@svc/store";
import { createTableHeaderFinder } from "./table-header.ts";

/** Raised whenever passages are counted in another way: documents that were indexed before are indexed anew. */
export const INDEX_VERSION = 1;

/** No word is longer; the rest of an encoded blob or of text without spaces is not indexed. */
const MAX_WORD_CHARS = 64;

/** The words of a text as they are indexed and searched, in order, with repetitions. */
export function wordsOf(text: string): string[] {
  return tokenize(text).map(({ term }) => (term.length <= MAX_WORD_CHARS ? term : cutText(term, MAX_WORD_CHARS)));
}

/** What has to be stemmed so that `termsOf` can tell a word's terms: the word, and itself without its accents. */
export function formsToStem(word: string): string[] {
  const plain = foldAccents(word);
  return plain === word ? [word] : [word, plain];
}

/**
 * The terms that a word is indexed and searched as, without accents: its stem, and the stem that it has for whoever
 * leaves the accents out, where that is another.
 */
export function termsOf(word: string, stems: ReadonlyMap<string, string>): string[] {
  return [...new Set(formsToStem(word).map((form) => foldAccents(stems.get(form) ?? form)))];
}

/** Passages that are counted between two looks at everything else that the process has to do. */
const SLICE_CHUNKS = 200;

/** Counts of one word of a passage: how many numbers `CountedWords` has of it. */
const COUNTED_UNITS = 4;

/** The words of passages in one row of numbers, since there may be millions: id, count in title, headings and body. */
interface CountedWords {
  units: number[];
  /** Where each passage's words end. */
  ends: number[];
  /** Length of each passage's body. */
  lengths: number[];
}

/**
 * Counts the words of a document's passages by field for the index. Stop words of the body are left out: they stand
 * nearly everywhere. Those of title and headings stay, so that a question of stop words only ("Who are you?") finds the
 * heading that asks it. A heading that repeats the title counts once, and the header of a table with each of the passages
 * that it is cut into. `pageStarts` is where each page begins.
 */
export async function indexChunks(
  chunks: readonly Omit<NewChunk, "termCount" | "page">[],
  document: { title: string; language: string; pageStarts?: readonly number[] | undefined },
): Promise<IndexedChunks> {
  const stops = stopWords(document.language);
  const pageOf = createPageFinder(document.pageStarts ?? []);
  const tableHeaderOf = createTableHeaderFinder();
  const ids = new Map<string, number>();
  const idOf = (word: string): number => {
    const known = ids.get(word);
    if (known !== undefined) return known;
    ids.set(word, ids.size);
    return ids.size - 1;
  };
  const titleIds = wordsOf(document.title).map(idOf);
  const counts = createFieldCounts();
  const counted: CountedWords = { units: [], ends: [], lengths: [] };
  const indexed: NewChunk[] = [];
  for (const chunk of chunks) {
    const headings = chunk.headingPath.filter((heading) => heading !== document.title);
    for (const id of titleIds) counts.add(id, 0, 1);
    headings.push(tableHeaderOf(chunk));
    for (const word of wordsOf(headings.join("\n"))) counts.add(idOf(word), 1, 1);
    let termCount = 0;
    for (const word of wordsOf(chunk.text)) {
      if (stops.has(word)) continue;
      counts.add(idOf(word), 2, 1);
      termCount += 1;
    }
    counts.drain((id, title, heading, body) => counted.units.push(id, title, heading, body));
    counted.ends.push(counted.units.length);
    counted.lengths.push(termCount);
    indexed.push({ ...chunk, termCount, page: pageOf(chunk.startOffset) });
    if (indexed.length % SLICE_CHUNKS === 0) await nextTurn();
  }
  const words = [...ids.keys()];
  return {
    chunks: indexed,
    version: INDEX_VERSION,
    words: words.flatMap(formsToStem),
    plainWords: [...new Set(words.map(foldAccents))],
    post: (stems) => postWords(words, stems, counted),
  };
}

/** Finds the page, from 1, of places that are asked for in ascending order; null in a document without pages. */
function createPageFinder(pageStarts: readonly number[]): (offset: number) => number | null {
  let page = 0;
  return (offset) => {
    while ((pageStarts[page] ?? Infinity) <= offset) page += 1;
    return pageStarts.length === 0 ? null : Math.max(page, 1);
  };
}

/** Forms of one word fall together, so their counts are summed. */
async function postWords(
  words: readonly string[],
  stems: ReadonlyMap<string, string>,
  { units, ends, lengths }: CountedWords,
): Promise<Map<string, TermPostings>> {
  const ids = new Map<string, number>();
  const postings: TermPostings[] = [];
  const termIds = words.map((word) =>
    termsOf(word, stems).map((term) => {
      const known = ids.get(term);
      if (known !== undefined) return known;
      ids.set(term, ids.size);
      postings.push([]);
      return ids.size - 1;
    }),
  );
  const bits = words.map((word) => formBit(foldAccents(word)));
  const forms: number[] = [];
  const counts = createFieldCounts();
  let at = 0;
  for (const [ordinal, end] of ends.entries()) {
    for (; at < end; at += COUNTED_UNITS) {
      const word = units[at] ?? 0;
      for (const id of termIds[word] ?? []) {
        for (let field = 0; field < 3; field += 1) counts.add(id, field, units[at + 1 + field] ?? 0);
        forms[id] = (forms[id] ?? 0) | (bits[word] ?? 0);
      }
    }
    const length = lengths[ordinal] ?? 0;
    counts.drain((id, titleCount, headingCount, bodyCount) => {
      const ofTerm = postings[id];
      if (ofTerm !== undefined)
        addPosting(ofTerm, ordinal, length, { titleCount, headingCount, bodyCount, forms: forms[id] ?? 0 });
      forms[id] = 0;
    });
    if (ordinal % SLICE_CHUNKS === SLICE_CHUNKS - 1) await nextTurn();
  }
  return new Map([...ids].map(([term, id]) => [term, postings[id] ?? []]));
}

/** Counts of title, headings and body by id, for one passage after the other. */
function createFieldCounts(): {
  add(id: number, field: number, count: number): void;
  /** Gives the counts of each id that has some, in the order in which they came, and begins anew. */
  drain(take: (id: number, title: number, heading: number, body: number) => void): void;
} {
  const sums: number[] = [];
  const isTouched: boolean[] = [];
  let touched: number[] = [];
  return {
    add(id, field, count) {
      if (isTouched[id] !== true) {
        isTouched[id] = true;
        touched.push(id);
        for (let place = 3 * id; place < 3 * id + 3; place += 1) sums[place] = 0;
      }
      sums[3 * id + field] = (sums[3 * id + field] ?? 0) + count;
    },
    drain(take) {
      for (const id of touched) {
        isTouched[id] = false;
        take(id, sums[3 * id] ?? 0, sums[3 * id + 1] ?? 0, sums[3 * id + 2] ?? 0);
      }
      touched = [];
    },
  };
}

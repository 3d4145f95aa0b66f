import { cutText, findCodes, foldAccents, stopWords, tokenize, postgresConfigOf } from "@svc/text";
import { POSTING_UNITS, createYielder, formBit, packCounts, packLength, packWords, unpackWords } from "@svc/store";
import type { DocumentPostings, IndexedChunks, NewChunk, OutdatedDocument, Store } from "@svc/store";
import type { Log } from "@svc/log";

/** Maximum number of documents per query, and of passages per transaction unless a single document has more. */
const MAX_DOCUMENTS = 50;
const MAX_CHUNKS = 500;

/** Row below the header of a table: bars, dashes and colons only. */
const DELIMITER = /^(?=[^\n]*\|)(?=[^\n]*-)[|:\- \t]+$/;

/** Maximum length of a header, because its words are counted with every passage of the table. */
const MAX_HEADER_CHARS = 500;

/** Increased whenever counting changes: documents indexed with an older version are indexed again. */
const INDEX_VERSION = 2;

/** Maximum length of a word; the rest of an encoded blob or of text without spaces is not indexed. */
const MAX_WORD_CHARS = 64;

/** Returns the words of a text as they are indexed and searched, in order, with repetitions. */
export function wordsOf(text: string): string[] {
  return tokenize(text).map(({ term }) => (term.length <= MAX_WORD_CHARS ? term : cutText(term, MAX_WORD_CHARS)));
}

/** Like `wordsOf`, and codes as a whole: `K-1050` is `k`, `1050` and `k1050`. */
function indexedWordsOf(text: string): string[] {
  return [...wordsOf(text), ...findCodes(text).map(({ term }) => term)];
}

/** Returns the forms that `termsOf` needs stems of: the word, and the word without accents. */
export function formsToStem(word: string): string[] {
  const plain = foldAccents(word);
  return plain === word ? [word] : [word, plain];
}

/**
 * Returns the terms of a word, without accents: its stem, and the stem of the word typed without accents, if that
 * differs.
 */
export function termsOf(word: string, stems: ReadonlyMap<string, string>): string[] {
  return [...new Set(formsToStem(word).map((form) => foldAccents(stems.get(form) ?? form)))];
}

/** Number of passages counted between two checks of the time. */
const SLICE_CHUNKS = 20;

/** Number of values per word of a passage in `CountedWords`. */
const COUNTED_UNITS = 4;

/**
 * Word counts of a document's passages. Plain data in few objects, because there may be millions of words and another
 * thread may receive it.
 */
export interface CountedWords {
  /** Words to stem: each distinct word with the forms of `formsToStem`, in pieces: see `packWords`. */
  forms: string[];
  /** Four numbers per word of a passage: its index among the words, its counts in title, headings and body. */
  units: Uint32Array;
  /** End of each passage's words in `units`. */
  ends: Uint32Array;
  /** Length of each passage's body in words. */
  lengths: Uint32Array;
}

/** The passages of a document with their word counts. */
export interface CountedChunks {
  chunks: NewChunk[];
  counted: CountedWords;
}

/**
 * Counts the words of a document's passages by field for the index. Stop words of the body are left out, because they
 * are nearly everywhere. Those of title and headings are kept, so that a question of stop words only ("Who are you?")
 * matches a heading with the same words. A heading that repeats the title counts once, and the header of a table with
 * each of its passages. `pageStarts` is the start of each page.
 */
export async function countChunks(
  chunks: readonly Omit<NewChunk, "termCount" | "page">[],
  document: { title: string; language: string; pageStarts?: readonly number[] | undefined },
): Promise<CountedChunks> {
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
  const titleIds = indexedWordsOf(document.title).map(idOf);
  const counts = createFieldCounts();
  const units: number[] = [];
  const ends: number[] = [];
  const lengths: number[] = [];
  const indexed: NewChunk[] = [];
  const yieldNow = createYielder();
  for (const chunk of chunks) {
    const headings = chunk.headingPath.filter((heading) => heading !== document.title);
    for (const id of titleIds) counts.add(id, 0, 1);
    headings.push(tableHeaderOf(chunk));
    for (const word of indexedWordsOf(headings.join("\n"))) counts.add(idOf(word), 1, 1);
    let termCount = 0;
    for (const word of indexedWordsOf(chunk.text)) {
      if (stops.has(word)) continue;
      counts.add(idOf(word), 2, 1);
      termCount += 1;
    }
    counts.drain((id, title, heading, body) => units.push(id, title, heading, body));
    ends.push(units.length);
    lengths.push(termCount);
    indexed.push({ ...chunk, termCount, page: pageOf(chunk.startOffset) });
    if (indexed.length % SLICE_CHUNKS === 0) await yieldNow();
  }
  return {
    chunks: indexed,
    counted: {
      forms: packWords(formsOf(ids.keys())),
      units: Uint32Array.from(units),
      ends: Uint32Array.from(ends),
      lengths: Uint32Array.from(lengths),
    },
  };
}

function* formsOf(words: Iterable<string>): Generator<string> {
  for (const word of words) yield* formsToStem(word);
}

/** Creates postings of counted words. `stems` has the stem of each of `counted.forms`, in the same pieces. */
type PostWords = (counted: CountedWords, stems: readonly string[]) => Promise<DocumentPostings>;

/** Returns counted passages in the store's format; `post` creates the postings, by default in this thread. */
export function asIndexed({ chunks, counted }: CountedChunks, post: PostWords = postWords): IndexedChunks {
  return {
    chunks,
    version: INDEX_VERSION,
    async post(stem) {
      const yieldNow = createYielder();
      const stems: string[] = [];
      for (const piece of counted.forms) {
        stems.push((await stem(unpackWords(piece))).join("\n"));
        await yieldNow();
      }
      return post(counted, stems);
    },
  };
}

/**
 * Creates a function that returns the page, from 1, of offsets in ascending order; null in a document without pages.
 */
function createPageFinder(pageStarts: readonly number[]): (offset: number) => number | null {
  let page = 0;
  return (offset) => {
    while ((pageStarts[page] ?? Infinity) <= offset) page += 1;
    return pageStarts.length === 0 ? null : Math.max(page, 1);
  };
}

/** Implements `PostWords` in this thread. Counts of forms with the same term are summed. */
export async function postWords(counted: CountedWords, stems: readonly string[]): Promise<DocumentPostings> {
  const yieldNow = createYielder();
  const { units, ends, lengths } = counted;
  const words = await findTerms(counted.forms, stems);
  const termCount = words.terms.size;
  // Postings in the order of the passages; they are sorted by term once the number of each term's postings is known.
  const postings: number[] = [];
  const counts = createFieldCounts();
  const forms = new Uint16Array(termCount);
  const positions = new Uint32Array(termCount + 1);
  let at = 0;
  for (const [ordinal, end] of ends.entries()) {
    for (; at < end; at += COUNTED_UNITS) {
      const word = units[at] ?? 0;
      for (const id of [words.first[word] ?? NONE, words.second[word] ?? NONE]) {
        if (id === NONE) continue;
        for (let field = 0; field < 3; field += 1) counts.add(id, field, units[at + 1 + field] ?? 0);
        forms[id] = (forms[id] ?? 0) | (words.bits[word] ?? 0);
      }
    }
    const length = packLength(lengths[ordinal] ?? 0);
    counts.drain((id, title, heading, body) => {
      postings.push(id, ordinal, length, packCounts({ title, heading, body }), forms[id] ?? 0);
      positions[id + 1] = (positions[id + 1] ?? 0) + POSTING_UNITS;
      forms[id] = 0;
    });
    if (ordinal % SLICE_CHUNKS === 0) await yieldNow();
  }
  for (let id = 0; id < termCount; id += 1) positions[id + 1] = (positions[id + 1] ?? 0) + (positions[id] ?? 0);
  const sorted = new Uint32Array((postings.length / (POSTING_UNITS + 1)) * POSTING_UNITS);
  for (let from = 0; from < postings.length; from += POSTING_UNITS + 1) {
    const id = postings[from] ?? 0;
    const to = positions[id] ?? 0;
    for (let unit = 0; unit < POSTING_UNITS; unit += 1) sorted[to + unit] = postings[from + 1 + unit] ?? 0;
    positions[id] = to + POSTING_UNITS;
  }
  return {
    terms: packWords(words.terms.keys()),
    // Each position has advanced from the beginning of the term's postings to their end.
    ends: positions.subarray(0, termCount),
    units: sorted,
    // Stems too: if a word occurs only in the plural, its singular may be misspelled.
    words: packWords(new Set([...words.plain, ...words.terms.keys()])),
  };
}

/** Marks a word without a second term, because it has the same stem with and without accents. */
const NONE = 0xff_ff_ff_ff;

/** Returns the terms of each word, by index, and the other data that postings need. */
async function findTerms(forms: readonly string[], stems: readonly string[]) {
  const yieldNow = createYielder();
  const terms = new Map<string, number>();
  const idOf = (term: string): number => {
    const known = terms.get(term);
    if (known !== undefined) return known;
    terms.set(term, terms.size);
    return terms.size - 1;
  };
  const plain = new Set<string>();
  const first: number[] = [];
  const second: number[] = [];
  const bits: number[] = [];
  let accented: string | null = null;
  for (const [position, piece] of forms.entries()) {
    const stemsOfPiece = unpackWords(stems[position] ?? "");
    for (const [index, form] of unpackWords(piece).entries()) {
      const term = foldAccents(stemsOfPiece[index] ?? form);
      if (accented !== null) {
        // The form without accents of the previous word: see `formsToStem`.
        second[second.length - 1] = term === accented ? NONE : idOf(term);
        accented = null;
        continue;
      }
      const folded = foldAccents(form);
      plain.add(folded);
      first.push(idOf(term));
      second.push(NONE);
      bits.push(formBit(folded));
      if (folded !== form) accented = term;
    }
    await yieldNow();
  }
  return { terms, plain, first, second, bits };
}

/** Collects counts of title, headings and body by id, one passage after the other. */
function createFieldCounts(): {
  add(id: number, field: number, count: number): void;
  /** Passes on the non-zero counts of each id, in order of first occurrence, and resets them. */
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
        for (let position = 3 * id; position < 3 * id + 3; position += 1) sums[position] = 0;
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

/**
 * Creates a function that returns the header of the table that a passage continues, for the passages of a document in
 * order: a long table is split between its rows, and only its first passage has the header. Empty for any other
 * passage.
 */
export function createTableHeaderFinder(): (passage: { text: string; headingPath: readonly string[] }) => string {
  let open = { header: "", path: "" };
  return ({ text, headingPath }) => {
    const lines = text.split("\n");
    const path = JSON.stringify(headingPath);
    const goesOn = isRow(lines[0]) && !isDelimiter(lines[1]) && open.path === path;
    const carried = goesOn ? open.header : "";
    const delimiter = lines.findLastIndex(isDelimiter);
    const own = delimiter > 0 ? (lines[delimiter - 1] ?? "").slice(0, MAX_HEADER_CHARS) : "";
    open = { header: isRow(lines.at(-1)) ? own || carried : "", path };
    return carried;
  };
}

function isRow(line: string | undefined): boolean {
  return line?.trimStart().startsWith("|") === true;
}

function isDelimiter(line: string | undefined): boolean {
  return line !== undefined && DELIMITER.test(line);
}

/**
 * Reindexes documents that an older version has indexed, from the stored passages, until none is left or `signal` is
 * aborted; returns their number. They can be found again batch by batch. Idempotent, and safe to run concurrently with
 * changes and on several replicas: each batch is one transaction, which skips documents that another one has indexed or
 * changed.
 */
export async function reindexOutdated(
  deps: { store: Pick<Store, "documents" | "chunks">; log: Log },
  options: { signal?: AbortSignal } = {},
): Promise<{ documents: number }> {
  const { store, log } = deps;
  let documents = 0;
  let last: OutdatedDocument | null = null;
  while (options.signal?.aborted !== true) {
    const outdated: OutdatedDocument[] = await store.documents.findOutdated(INDEX_VERSION, MAX_DOCUMENTS, last);
    const [first] = outdated;
    if (first === undefined) break;
    if (documents === 0) log.info({}, "reindexing documents for this version's search");
    documents += await indexBatch(store, batchWith(first, outdated));
    last = first;
  }
  if (documents > 0) log.info({ documents }, "documents reindexed");
  return { documents };
}

/** Returns documents of the same knowledge base, as many as fit one transaction. */
function batchWith(first: OutdatedDocument, outdated: readonly OutdatedDocument[]): OutdatedDocument[] {
  let chunks = 0;
  return outdated
    .filter(({ kbId }) => kbId === first.kbId)
    .filter(({ chunkCount }, index) => (chunks += chunkCount) <= MAX_CHUNKS || index === 0);
}

async function indexBatch(
  store: Pick<Store, "documents" | "chunks">,
  batch: readonly OutdatedDocument[],
): Promise<number> {
  const [first] = batch;
  if (first === undefined) return 0;
  const chunks = await store.chunks.list(
    first.project,
    batch.map(({ id }) => id),
  );
  const items = await Promise.all(
    batch.map(async ({ id, title, language }) => ({
      id,
      textSearchConfig: postgresConfigOf(language),
      indexed: asIndexed(
        await countChunks(
          chunks.filter(({ documentId }) => documentId === id),
          { title, language },
        ),
      ),
    })),
  );
  return store.documents.indexAgain(first.project, first.kbId, items);
}

import { isUuid } from "@svc/primitives";
import { formBit } from "@svc/store";
import type { FoundChunk, ProjectId, SearchedKb, Store } from "@svc/store";
import { foldAccents, postgresConfigOf } from "@svc/text";
import { formsToStem, termsOf } from "./index-words.ts";
import { areCurrent, haveVersions, knownBasesOf } from "./known-bases.ts";
import type { KbVersions, KnownBase } from "./known-bases.ts";
import { nearestWords, queryWords, readMisspelling, synonymsIn } from "./query-words.ts";
import { bestScore, createDocumentFinder, rankPassages } from "./rank-passages.ts";
import type { Candidate, PassageRanking, QueryPosition } from "./rank-passages.ts";

/** A passage that a search found. */
export interface SearchHit {
  documentId: string;
  kbId: string;
  chunkId: string;
  title: string;
  url?: string;
  /** Position among the passages of its document, from 0. */
  ordinal: number;
  /** Headings above it, outermost first. */
  headingPath: string[];
  /** The passage verbatim. */
  text: string;
  /** Page of the document on which it begins, from 1, if it has pages. */
  page?: number;
  /** Whether `text` is Markdown; else it is plain text. */
  markdown: boolean;
  score: number;
  /** Cosine of its embedding and the query's, -1 to 1; absent if one of them has no embedding. */
  similarity?: number;
}

/** Result of a search, best passage first. */
export interface SearchResult {
  hits: SearchHit[];
  /** Maximum possible score: that of a passage with every word of the query as often as counts. */
  bestPossible: number;
  /**
   * Searched words of the query, and their weights in these knowledge bases: rarer words weigh more. A further form of
   * an earlier word weighs nothing. A misspelled word is replaced by its correction.
   */
  words: { word: string; weight: number }[];
  /** Number of passages in the searched knowledge bases: with few, rarity means little. */
  passageCount: number;
  /** Languages of the searched documents (ISO 639-1). */
  languages: string[];
}

/** Minimum number of passages whose documents are also compared; at least twice the requested number. */
const MIN_CANDIDATES = 100;

/** Number of attempts if a document that was found is replaced meanwhile. */
const MAX_ATTEMPTS = 4;

/** Maximum number of unknown words that are corrected; each costs a lookup. */
const MAX_CORRECTED_WORDS = 3;

/** Maximum number of corrections of a word. */
const MAX_CORRECTIONS = 3;

/** Weight of a match of a correction relative to the word itself. */
const CORRECTION_FACTOR = 0.7;

/**
 * Weight of a match of a synonym relative to the word itself: synonyms find passages in other words, and hardly change
 * the order of those with the word.
 */
const SYNONYM_FACTOR = 0.35;

/** A word with letters and digits identifies one thing. */
const CODE = /^(?=.*\p{L})(?=.*\p{N})/u;

/** A search in several groups of knowledge bases. */
export interface GroupSearch {
  query: string;
  kbGroups: readonly (readonly string[])[];
  /** Maximum number of passages of each group. */
  limit: number;
  /**
   * Versions that knowledge bases had when the search was requested, as far as they are known: it then may find their
   * documents of that moment.
   */
  kbVersions?: KbVersions;
}

/** Dependencies of a search: with `embeddings`, it finds passages by words and meaning, otherwise by words alone. */
interface SearchDeps {
  store: Pick<Store, "kbs" | "chunks">;
  embeddings?: { searchEach(project: ProjectId, search: GroupSearch): Promise<SearchResult[]> } | null;
}

/**
 * Finds the passages that match a query best, by BM25 over text, headings and title, in those of the knowledge bases
 * that belong to this project. Any query is valid, whatever its length and content; one without words finds nothing. A
 * word without a match is treated as misspelled. A search sees a consistent snapshot of committed data. Its cost is
 * limited: at most the 32 rarest words are scored, from at most 400,000 postings.
 */
export async function searchKnowledge(
  deps: SearchDeps,
  project: ProjectId,
  search: { query: string; kbIds: readonly string[]; limit: number; kbVersions?: KbVersions },
): Promise<SearchResult> {
  const [found] = await searchEach(deps, project, { ...search, kbGroups: [search.kbIds] });
  return found ?? NOTHING_FOUND;
}

/**
 * Searches several groups of knowledge bases for one query, each separately: the weight of a word in a group, and so a
 * score, does not depend on the others. Returns the result of each group in order. The groups are searched
 * concurrently; otherwise like `searchKnowledge`.
 */
export async function searchEach(
  { store, embeddings }: SearchDeps,
  project: ProjectId,
  search: GroupSearch,
): Promise<SearchResult[]> {
  if (embeddings != null) return embeddings.searchEach(project, search);
  const known = knownBasesOf(store);
  const wanted = [...new Set(search.kbGroups.flat())].filter(isUuid);
  const { query, limit, kbVersions = {} } = search;
  const searchAll = (bases: readonly KnownBase[], mayBeOld: boolean) =>
    Promise.all(
      search.kbGroups.map((group) => {
        const own = bases.filter(({ id }) => group.includes(id));
        return searchGroup(store, project, { query, limit, kbVersions, bases: own, mayBeOld });
      }),
    );
  const recalled = wanted.length === 0 ? null : known.recall(project, wanted);
  const results = recalled === null ? [] : await searchAll(recalled, true);
  if (recalled !== null && !results.includes(null)) return results.filter((result) => result !== null);
  const kbs = wanted.length === 0 ? [] : await store.kbs.findAll(project, wanted);
  known.remember(project, kbs);
  return (await searchAll(kbs, false)).filter((result) => result !== null);
}

/** Searches a group of knowledge bases; null if cached data was allowed and is outdated. */
async function searchGroup(
  store: Pick<Store, "chunks">,
  project: ProjectId,
  search: { query: string; limit: number; kbVersions: KbVersions; bases: readonly KnownBase[]; mayBeOld: boolean },
): Promise<SearchResult | null> {
  const { bases, mayBeOld, query, limit, kbVersions } = search;
  const languages = [...new Set(bases.flatMap((kb) => kb.languages))];
  const words = queryWords(query, languages);
  if (words.length === 0 || languages.length === 0) return mayBeOld ? null : { ...NOTHING_FOUND, languages };
  const configs = [...new Set(languages.map(postgresConfigOf))];
  const searched = await readQuery(store, { configs, languages, words, query });
  const kbIds = bases.map((kb) => kb.id);
  for (let attempt = 1; ; attempt += 1) {
    const given = { kbIds, kbVersions, configs, searched, limit, mayBeOld: attempt === 1 };
    const found = await findPassages(store, project, given);
    if (mayBeOld && !areCurrent(bases, found.kbs)) return null;
    if (found.isWhole || attempt === MAX_ATTEMPTS) return { ...asResult(found), languages };
  }
}

/** Result of a search in no knowledge base. */
const NOTHING_FOUND: SearchResult = { hits: [], bestPossible: 0, words: [], passageCount: 0, languages: [] };

/** A word of the query with its search terms; none for another form of an earlier word. */
interface SearchedWord {
  word: string;
  terms: string[];
  form: number;
  factor: number;
  /** True for a synonym of words of the query: it finds passages, but is not a word of the query itself. */
  isSynonym?: true;
}

/** Words with a common term in any of the languages count as one: the first of them. */
async function readQuery(
  store: Pick<Store, "chunks">,
  query: { configs: readonly string[]; languages: readonly string[]; words: readonly string[]; query: string },
): Promise<SearchedWord[]> {
  const { configs, words } = query;
  const synonyms = synonymsIn(query);
  const termsOfWords = await stemAll(store, configs, [...words, ...synonyms.flatMap((ofWord) => ofWord)]);
  const ownerOf = new Map<string, SearchedWord>();
  const searched = words.map((word): SearchedWord => {
    const terms = termsOfWords.get(word) ?? [];
    const owner = terms.map((term) => ownerOf.get(term)).find((known) => known !== undefined);
    const searched = { word, terms: owner === undefined ? terms : [], form: formBit(foldAccents(word)), factor: 1 };
    const added = terms.filter((term) => !ownerOf.has(term));
    for (const term of added) ownerOf.set(term, owner ?? searched);
    if (owner !== undefined) owner.terms = [...owner.terms, ...added];
    return searched;
  });
  const others = synonyms.flatMap((ofWord, index): SearchedWord[] => {
    const terms = new Set(ofWord.flatMap((word) => termsOfWords.get(word) ?? []).filter((term) => !ownerOf.has(term)));
    const isSearched = terms.size > 0 && searched[index]?.terms.length !== 0;
    return isSearched
      ? [{ word: words[index] ?? "", terms: [...terms], form: 0, factor: SYNONYM_FACTOR, isSynonym: true }]
      : [];
  });
  return [...searched, ...others];
}

async function stemAll(
  store: Pick<Store, "chunks">,
  configs: readonly string[],
  words: readonly string[],
): Promise<Map<string, string[]>> {
  const terms = new Map(words.map((word): [string, string[]] => [word, []]));
  for (const config of configs) {
    const stems = await store.chunks.stem(config, words.flatMap(formsToStem));
    for (const word of words) terms.set(word, [...new Set([...(terms.get(word) ?? []), ...termsOf(word, stems)])]);
  }
  return terms;
}

interface FoundPassages {
  hits: { chunk: FoundChunk; score: number }[];
  /** False if a document was replaced while it was read, or the postings were outdated. */
  isWhole: boolean;
  words: SearchedWord[];
  weights: PassageRanking["weights"];
  passageCount: number;
  /** The knowledge bases when the postings were read. */
  kbs: readonly SearchedKb[];
}

/** A search for passages. */
interface PassageQuery {
  kbIds: readonly string[];
  kbVersions: KbVersions;
  searched: readonly SearchedWord[];
  limit: number;
  /** Whether cached postings may be used; it is then verified that they are current. */
  mayBeOld: boolean;
}

async function findPassages(
  store: Pick<Store, "chunks">,
  project: ProjectId,
  query: PassageQuery & { configs: readonly string[] },
): Promise<FoundPassages> {
  const first = await readAndRank(store, project, query);
  const words = await correctWords(store, query, first);
  // Misspelt words keep the weight of an unknown word: finding corrections is weaker evidence.
  const last = words === null ? first : await readAndRank(store, project, { ...query, searched: words });
  const { ranking, kbs } = last;

  const idOf = new Map(kbs.map(({ id, number }) => [number, id]));
  const kbIdOf = ({ kbNumber }: Candidate): string => idOf.get(kbNumber) ?? "";
  const { candidates } = ranking;
  const documents = await knownBasesOf(store).findDocuments(
    kbs,
    candidates.map((candidate) => ({ kbId: kbIdOf(candidate), number: candidate.number })),
  );
  const documentOf = createDocumentFinder(documents);
  const ranked = candidates.flatMap((candidate) => {
    const document = documentOf(candidate);
    return document === null ? [] : [{ candidate, document, score: ranking.scoreInDocument(candidate, document) }];
  });
  const best = ranked.sort((a, b) => b.score - a.score).slice(0, query.limit);
  const { chunks, versions } = await knownBasesOf(store).readPassages(
    project,
    { kbIds: query.kbIds, kbVersions: query.kbVersions, kbs },
    best.map(({ candidate, document }) => ({ document, ordinal: candidate.number - document.firstChunkNumber })),
  );
  const isCurrent = [first, last].every(
    (read) => !read.isRecalled || (read.kbs.length === versions.size && haveVersions(read.kbs, versions)),
  );
  const hits = best.flatMap(({ score }, index) => {
    const chunk = chunks[index];
    return chunk === null || chunk === undefined ? [] : [{ chunk, score }];
  });
  return {
    hits,
    isWhole: isCurrent && ranked.length === candidates.length && hits.length === best.length,
    words: [...(words ?? query.searched)],
    weights: first.ranking.weights,
    passageCount: kbs.reduce((sum, kb) => sum + kb.chunkCount, 0),
    kbs,
  };
}

async function readAndRank(store: Pick<Store, "chunks">, project: ProjectId, query: PassageQuery) {
  const terms = [...new Set(query.searched.flatMap((word) => word.terms))];
  const indexOf = new Map(terms.map((term, index) => [term, index]));
  const { isRecalled, ...found } = await knownBasesOf(store).readPostings(project, { ...query, terms });
  const positions = query.searched.map((word): QueryPosition => ({
    terms: word.terms.map((term) => indexOf.get(term) ?? -1),
    form: word.form,
    factor: word.factor,
    isExact: CODE.test(word.word),
  }));
  const ranking = rankPassages(found, positions, Math.max(MIN_CANDIDATES, 2 * query.limit));
  const known = new Set(found.blocks.map(({ term }) => term));
  const isKnown = positions.map((position) => position.terms.some((term) => known.has(term)));
  return { ranking, kbs: found.kbs, isKnown, isRecalled };
}

/** Replaces the unknown words of the query by corrections; null if there is nothing to correct. */
async function correctWords(
  store: Pick<Store, "chunks">,
  query: { configs: readonly string[]; searched: readonly SearchedWord[] },
  { kbs, isKnown }: { kbs: readonly { number: number }[]; isKnown: readonly boolean[] },
): Promise<SearchedWord[] | null> {
  const numbers = kbs.map(({ number }) => number);
  const misspelt = query.searched
    .filter(({ terms, isSynonym }, index) => terms.length > 0 && isKnown[index] === false && isSynonym !== true)
    .map((searched) => ({ searched, misspelling: readMisspelling(searched.word) }))
    .flatMap(({ searched, misspelling }) => (misspelling === null ? [] : [{ searched, misspelling }]));
  const corrections = new Map(
    await Promise.all(
      misspelt.slice(0, MAX_CORRECTED_WORDS).map(async ({ searched, misspelling }) => {
        const found = await store.chunks.findSimilarWords(numbers, misspelling);
        return [searched, nearestWords(misspelling.word, found).slice(0, MAX_CORRECTIONS)] as const;
      }),
    ),
  );
  const words = [...new Set([...corrections.values()].flat())];
  if (words.length === 0) return null;
  const terms = await stemAll(store, query.configs, words);
  const taken = new Set(query.searched.flatMap((searched) => searched.terms));
  return query.searched.map((searched) => {
    const meant = corrections.get(searched) ?? [];
    const added = meant.flatMap((word) => terms.get(word) ?? []).filter((term) => !taken.has(term));
    const word = meant[0];
    return word === undefined || added.length === 0
      ? searched
      : { word, terms: added, form: 0, factor: CORRECTION_FACTOR };
  });
}

function asResult({ hits, words, weights, passageCount }: FoundPassages): Omit<SearchResult, "languages"> {
  const own = words.filter(({ isSynonym }) => isSynonym !== true);
  const weighed = own.map(({ word, terms }, index) => {
    const { weight, formWeight } = terms.length > 0 ? (weights[index] ?? { weight: 0, formWeight: 0 }) : NOTHING;
    return { word, weight: weight + formWeight };
  });
  return {
    hits: hits.map(({ chunk: { url, mime, page, ...chunk }, score }) => ({
      ...chunk,
      ...(url === null ? {} : { url }),
      ...(page === null ? {} : { page }),
      markdown: mime === "text/markdown",
      score,
    })),
    bestPossible: bestScore(weighed.map(({ weight }) => weight)),
    words: weighed,
    passageCount,
  };
}

const NOTHING = { weight: 0, formWeight: 0 } as const;

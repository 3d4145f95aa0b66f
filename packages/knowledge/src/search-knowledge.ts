import { isUuid } from "@svc/primitives";
import { formBit } from "@svc/store";
import type { FoundChunk, NumberedDocument, PostingBlock, ProjectId, SearchedKb, Store } from "@svc/store";
import { foldAccents, postgresConfigOf } from "@svc/text";
import { formsToStem, termsOf } from "./index-words.ts";
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
}

/** Dependencies of a search: with `embeddings`, it finds passages by words and meaning. */
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
  search: { query: string; kbIds: readonly string[]; limit: number },
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
  const searchAll = (bases: readonly KnownBase[], mayBeOld: boolean) =>
    Promise.all(
      search.kbGroups.map((group) => {
        const own = bases.filter(({ id }) => group.includes(id));
        return searchGroup(store, project, { ...search, bases: own, mayBeOld });
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
  search: { query: string; limit: number; bases: readonly KnownBase[]; mayBeOld: boolean },
): Promise<SearchResult | null> {
  const { bases, mayBeOld, query, limit } = search;
  const languages = [...new Set(bases.flatMap((kb) => kb.languages))];
  const words = queryWords(query, languages);
  if (words.length === 0 || languages.length === 0) return mayBeOld ? null : { ...NOTHING_FOUND, languages };
  const configs = [...new Set(languages.map(postgresConfigOf))];
  const searched = await readQuery(store, { configs, languages, words, query });
  const kbIds = bases.map((kb) => kb.id);
  for (let attempt = 1; ; attempt += 1) {
    const found = await findPassages(store, project, { kbIds, configs, searched, limit, mayBeOld: attempt === 1 });
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
  const { chunks, versions } = await store.chunks.read(
    project,
    query.kbIds,
    best.map(({ candidate, document }) => ({ document, ordinal: candidate.number - document.firstChunkNumber })),
  );
  const isCurrent = [first, last].every(
    (read) =>
      !read.isRecalled ||
      (read.kbs.length === versions.size && read.kbs.every((kb) => versions.get(kb.id) === kb.version)),
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

/** Data of a knowledge base that a search needs before it reads postings. */
interface KnownBase {
  id: string;
  languages: string[];
}

interface KnownDocuments {
  version: string;
  documents: NumberedDocument[];
}

/** Cached knowledge bases that are searched together, and their postings by term. */
interface KnownPostings {
  kbs: SearchedKb[];
  blocksOf: Map<string, PostingBlock[]>;
}

/** Data that a search reads before passages. */
interface SearchedPostings {
  kbs: SearchedKb[];
  blocks: PostingBlock[];
  /** True if everything is from the cache: the versions of the knowledge bases are still to be compared. */
  isRecalled: boolean;
}

/**
 * Maximum number of cached postings of a term: with 32 terms, the most that are scored, that is the limit of a search
 * (400,000).
 */
const MAX_TERM_POSTINGS = 12_500;
/** The cache is cleared above this number: 16 MB. */
const MAX_KNOWN_POSTINGS = 2_000_000;
/** The cache is also cleared above this number of terms, most of which have few postings or none. */
const MAX_KNOWN_TERMS = 50_000;

/** In larger knowledge bases, only the documents of the best passages are read. */
const MAX_DOCUMENTS = 500;
/** The cache is cleared above these sizes: together some megabytes. */
const MAX_BASES = 2_000;
const MAX_KNOWN_DOCUMENTS = 50_000;

/** Creates the cache of the languages of knowledge bases, with which a search begins. */
function cacheLanguages() {
  const languages = new Map<string, string[]>();
  const keyOf = (project: ProjectId, kbId: string) => `${project}/${kbId}`;
  return {
    /** Returns the cached knowledge bases; null unless all of them are cached and have documents. */
    recall(project: ProjectId, kbIds: readonly string[]): KnownBase[] | null {
      const found = kbIds.map((id) => ({ id, languages: languages.get(keyOf(project, id)) ?? [] }));
      return found.every((base) => base.languages.length > 0) ? found : null;
    },

    remember(project: ProjectId, bases: readonly KnownBase[]): void {
      if (languages.size + bases.length > MAX_BASES) languages.clear();
      for (const base of bases) languages.set(keyOf(project, base.id), base.languages);
    },
  };
}

/**
 * Creates the function that returns the postings of these terms. Cached terms are not read: they have the version of the
 * others, or, if nothing was read, a version that is still to be compared.
 */
function cachePostings(chunks: Store["chunks"]) {
  const postings = new Map<string, KnownPostings>();
  let postingCount = 0;
  let termCount = 0;

  /** Caches what was read of these terms, unless it is too much; `known` is the cache entry of the same versions. */
  function remember(key: string, known: KnownPostings, terms: readonly string[], blocks: PostingBlock[]): void {
    if (!postings.has(key)) postings.set(key, known);
    for (const [index, term] of terms.entries()) {
      const own = blocks.filter((block) => block.term === index);
      const count = own.reduce((sum, block) => sum + block.count, 0);
      if (count > MAX_TERM_POSTINGS || own.some((block) => block.postings === null)) continue;
      known.blocksOf.set(term, own);
      postingCount += count;
      termCount += 1;
    }
    if (postingCount <= MAX_KNOWN_POSTINGS && termCount <= MAX_KNOWN_TERMS) return;
    postings.clear();
    postingCount = 0;
    termCount = 0;
  }

  return async function readPostings(
    project: ProjectId,
    { kbIds, terms, mayBeOld }: { kbIds: readonly string[]; terms: readonly string[]; mayBeOld: boolean },
  ): Promise<SearchedPostings> {
    const key = `${project}/${kbIds.toSorted().join()}`;
    const known = mayBeOld ? postings.get(key) : undefined;
    const unknown = known === undefined ? terms : terms.filter((term) => !known.blocksOf.has(term));
    if (known !== undefined && unknown.length === 0) {
      return { kbs: known.kbs, blocks: blocksOf(known, terms), isRecalled: true };
    }
    const { kbs, blocks } = await chunks.readPostings(project, { kbIds, terms: unknown });
    if (known !== undefined && versionsOf(kbs) !== versionsOf(known.kbs)) {
      return readPostings(project, { kbIds, terms, mayBeOld: false });
    }
    if (known === undefined) postings.delete(key);
    const base = known ?? { kbs, blocksOf: new Map<string, PostingBlock[]>() };
    // Postings that are too large to cache are only in `blocks`.
    const place = (block: PostingBlock) => ({ ...block, term: terms.indexOf(unknown[block.term] ?? "") });
    const recalled = known === undefined ? [] : blocksOf(known, terms);
    const found = [...recalled, ...blocks.map(place)];
    remember(key, base, unknown, blocks);
    return { kbs, blocks: found, isRecalled: false };
  };
}

/** Creates the function that returns the documents of passages; of small knowledge bases all of them, read once per version. */
function cacheDocuments(chunks: Store["chunks"]) {
  const documents = new Map<string, KnownDocuments>();
  let documentCount = 0;

  return async (
    kbs: readonly SearchedKb[],
    passages: readonly { kbId: string; number: number }[],
  ): Promise<NumberedDocument[]> => {
    if (passages.length === 0) return [];
    const used = kbs.filter(({ id }) => passages.some(({ kbId }) => kbId === id));
    if (used.some((kb) => kb.documentCount > MAX_DOCUMENTS)) return chunks.findDocuments(passages);
    const unknown = used.filter(({ id, version }) => documents.get(id)?.version !== version);
    if (unknown.length > 0) {
      const read = await chunks.listDocuments(unknown.map(({ id }) => id));
      if (documentCount + read.length > MAX_KNOWN_DOCUMENTS) {
        documents.clear();
        documentCount = 0;
      }
      for (const { id, number, version } of unknown) {
        const own = read.filter(({ kbNumber }) => kbNumber === number);
        documentCount += own.length - (documents.get(id)?.documents.length ?? 0);
        documents.set(id, { version, documents: own });
      }
    }
    const found = used.map(({ id }) => documents.get(id)?.documents);
    // Another search has cleared the cache meanwhile.
    if (found.includes(undefined)) return chunks.findDocuments(passages);
    return found.flatMap((own) => own ?? []);
  };
}

/**
 * Creates the cache of knowledge bases between searches, which saves up to three of four statements. Cached data is
 * always verified: passages are returned with the current versions of the knowledge bases, and are read by the numbers
 * that their document has at that moment.
 */
const createKnownBases = (chunks: Store["chunks"]) => ({
  ...cacheLanguages(),
  readPostings: cachePostings(chunks),
  findDocuments: cacheDocuments(chunks),
});

/** Returns the postings of these terms, each with the index of its term. */
const blocksOf = (known: KnownPostings, terms: readonly string[]): PostingBlock[] =>
  terms.flatMap((term, index) => (known.blocksOf.get(term) ?? []).map((block) => ({ ...block, term: index })));

const versionsOf = (kbs: readonly SearchedKb[]): string =>
  kbs
    .map(({ id, version }) => `${id} ${version}`)
    .toSorted()
    .join();

type KnownBases = ReturnType<typeof createKnownBases>;

const ofStores = new WeakMap<Store["chunks"], KnownBases>();

/** Returns this process's cache for the knowledge bases of a store. */
function knownBasesOf({ chunks }: Pick<Store, "chunks">): KnownBases {
  const known = ofStores.get(chunks) ?? createKnownBases(chunks);
  ofStores.set(chunks, known);
  return known;
}

/** Returns whether the searched knowledge bases have the assumed languages. */
function areCurrent(assumed: readonly KnownBase[], searched: readonly SearchedKb[]): boolean {
  return assumed.every(({ id, languages }) => {
    const found = searched.find((kb) => kb.id === id);
    return found !== undefined && found.languages.join() === languages.join();
  });
}

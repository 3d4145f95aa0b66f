import type { FoundChunk, NumberedDocument, PostingBlock, ProjectId, SearchedKb, Store } from "@svc/store";

/** Versions of knowledge bases by their ids, as `SearchedKb.version`. */
export type KbVersions = Readonly<Record<string, string>>;

/** Data of a knowledge base that a search needs before it reads postings. */
export interface KnownBase {
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

/** The cache of passages is cleared above this number of characters: at most 16 MB. */
const MAX_KNOWN_CHARS = 8_000_000;

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

/** A passage, by its document and position. */
interface PassagePosition {
  document: Pick<NumberedDocument, "id" | "firstChunkNumber">;
  ordinal: number;
}

/** Cached passages of knowledge bases that are searched together, by their positions. */
interface KnownPassages {
  versions: string;
  chunks: Map<string, FoundChunk>;
  chars: number;
}

/** Size of a cached passage, in characters, with the memory of its other fields. */
const sizeOf = ({ text, title, url }: FoundChunk): number => 500 + text.length + title.length + (url?.length ?? 0);

/**
 * Creates the function that reads passages that were found in these versions of knowledge bases, as `chunks.read`. It
 * reads nothing if all of them are cached and `kbVersions` has the same versions. Passages of earlier versions are
 * dropped.
 */
function cachePassages(chunks: Store["chunks"]) {
  const passages = new Map<string, KnownPassages>();
  let charCount = 0;
  const positionOf = ({ document, ordinal }: PassagePosition) => `${document.id}/${ordinal}`;

  function remember(key: string, versions: string, found: ReadonlyMap<string, FoundChunk>): void {
    const before = passages.get(key);
    const known =
      before?.versions === versions ? before : { versions, chunks: new Map<string, FoundChunk>(), chars: 0 };
    charCount -= before?.chars ?? 0;
    for (const [position, chunk] of found) {
      if (known.chunks.has(position)) continue;
      known.chunks.set(position, chunk);
      known.chars += sizeOf(chunk);
    }
    passages.set(key, known);
    charCount += known.chars;
    if (charCount <= MAX_KNOWN_CHARS) return;
    passages.clear();
    charCount = 0;
  }

  return async (
    project: ProjectId,
    { kbIds, kbs, kbVersions }: { kbIds: readonly string[]; kbs: readonly SearchedKb[]; kbVersions: KbVersions },
    wanted: readonly PassagePosition[],
  ): ReturnType<Store["chunks"]["read"]> => {
    const key = `${project}/${kbIds.toSorted().join()}`;
    const versions = versionsOf(kbs);
    const known = passages.get(key);
    const cached = known?.versions === versions ? wanted.flatMap((one) => known.chunks.get(positionOf(one)) ?? []) : [];
    const isKnown = kbs.length === kbIds.length && haveVersions(kbs, new Map(Object.entries(kbVersions)));
    if (isKnown && cached.length === wanted.length) {
      return { chunks: cached, versions: new Map(kbs.map(({ id, version }) => [id, version])) };
    }
    const found = await chunks.read(project, kbIds, wanted);
    if (wanted.length > 0 && kbs.length === found.versions.size && haveVersions(kbs, found.versions)) {
      const read = wanted.flatMap((one, index) => {
        const chunk = found.chunks[index];
        return chunk === null || chunk === undefined ? [] : [[positionOf(one), chunk] as const];
      });
      remember(key, versions, new Map(read));
    }
    return found;
  };
}

/**
 * Creates the cache of knowledge bases between searches, which saves up to three of four statements, and all of them if
 * the current versions of the knowledge bases are known. Otherwise cached data is verified: passages are read with the
 * versions, and by the numbers that their document has at that moment.
 */
const createKnownBases = (chunks: Store["chunks"]) => ({
  ...cacheLanguages(),
  readPostings: cachePostings(chunks),
  findDocuments: cacheDocuments(chunks),
  readPassages: cachePassages(chunks),
});

/** Returns the postings of these terms, each with the index of its term. */
const blocksOf = (known: KnownPostings, terms: readonly string[]): PostingBlock[] =>
  terms.flatMap((term, index) => (known.blocksOf.get(term) ?? []).map((block) => ({ ...block, term: index })));

/** Returns whether knowledge bases have these versions. */
export const haveVersions = (kbs: readonly SearchedKb[], versions: ReadonlyMap<string, string>): boolean =>
  kbs.every(({ id, version }) => versions.get(id) === version);

const versionsOf = (kbs: readonly SearchedKb[]): string =>
  kbs
    .map(({ id, version }) => `${id} ${version}`)
    .toSorted()
    .join();

type KnownBases = ReturnType<typeof createKnownBases>;

const ofStores = new WeakMap<Store["chunks"], KnownBases>();

/** Returns this process's cache for the knowledge bases of a store. */
export function knownBasesOf({ chunks }: Pick<Store, "chunks">): KnownBases {
  const known = ofStores.get(chunks) ?? createKnownBases(chunks);
  ofStores.set(chunks, known);
  return known;
}

/** Returns whether the searched knowledge bases have the assumed languages. */
export function areCurrent(assumed: readonly KnownBase[], searched: readonly SearchedKb[]): boolean {
  return assumed.every(({ id, languages }) => {
    const found = searched.find((kb) => kb.id === id);
    return found !== undefined && found.languages.join() === languages.join();
  });
}

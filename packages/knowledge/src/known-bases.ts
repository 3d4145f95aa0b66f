import type { NumberedDocument, PostingBlock, ProjectId, SearchedKb, Store } from "@svc/store";

/** What a search needs to know of a knowledge base before it reads postings. */
export interface KnownBase {
  id: string;
  languages: string[];
}

interface KnownDocuments {
  version: string;
  documents: NumberedDocument[];
}

/** Knowledge bases that are searched together, as they were, and postings in them by their term. */
interface KnownPostings {
  kbs: SearchedKb[];
  blocksOf: Map<string, PostingBlock[]>;
}

/** What a search reads before it reads passages. */
export interface SearchedPostings {
  kbs: SearchedKb[];
  blocks: PostingBlock[];
  /** True if nothing of it was read now: the versions of the knowledge bases are still to be compared. */
  isRecalled: boolean;
}

/** Postings of one term that are remembered at most: as many as all of the 32 terms of a search may have are read. */
const MAX_TERM_POSTINGS = 12_500;
/** Everything is forgotten above this number: 16 MB. */
const MAX_KNOWN_POSTINGS = 2_000_000;
/** Above this number of terms too, most of which have few postings or none. */
const MAX_KNOWN_TERMS = 50_000;

/** Knowledge bases with more documents are asked for the documents of the best passages only. */
const MAX_DOCUMENTS = 500;
/** Everything is forgotten above these sizes: together some megabytes. */
const MAX_BASES = 2_000;
const MAX_KNOWN_DOCUMENTS = 50_000;

/**
 * Creates what a process remembers of knowledge bases between searches, which saves up to three of four statements. Nothing of
 * it is used unchecked: passages come with the current versions of the knowledge bases, and are read by the numbers that
 * their document has at that moment.
 */
// oxlint-disable-next-line max-lines-per-function -- One memory whose functions share its state.
function createKnownBases() {
  const languages = new Map<string, string[]>();
  const documents = new Map<string, KnownDocuments>();
  let documentCount = 0;
  const postings = new Map<string, KnownPostings>();
  let postingCount = 0;
  let termCount = 0;

  function forgetPostings(): void {
    postings.clear();
    postingCount = 0;
    termCount = 0;
  }

  /** Remembers what was read of these terms, unless it is too much; `known` is what is known of the same versions. */
  function rememberPostings(key: string, known: KnownPostings, terms: readonly string[], blocks: PostingBlock[]): void {
    if (!postings.has(key)) postings.set(key, known);
    for (const [index, term] of terms.entries()) {
      const own = blocks.filter((block) => block.term === index);
      const count = own.reduce((sum, block) => sum + block.count, 0);
      if (count > MAX_TERM_POSTINGS || own.some((block) => block.postings === null)) continue;
      known.blocksOf.set(term, own);
      postingCount += count;
      termCount += 1;
    }
    if (postingCount > MAX_KNOWN_POSTINGS || termCount > MAX_KNOWN_TERMS) forgetPostings();
  }

  const keyOf = (project: ProjectId, kbId: string) => `${project}/${kbId}`;

  return {
    /** Returns these knowledge bases as they were; null unless all of them are known and have documents. */
    recall(project: ProjectId, kbIds: readonly string[]): KnownBase[] | null {
      const found = kbIds.map((id) => ({ id, languages: languages.get(keyOf(project, id)) ?? [] }));
      return found.every((base) => base.languages.length > 0) ? found : null;
    },

    remember(project: ProjectId, bases: readonly KnownBase[]): void {
      if (languages.size + bases.length > MAX_BASES) languages.clear();
      for (const base of bases) languages.set(keyOf(project, base.id), base.languages);
    },

    /**
     * Returns the postings of these terms. Those that are known are not read: they are of the version of the others, or, if
     * nothing was read, of a version that is still to be compared.
     */
    async readPostings(
      store: Pick<Store, "chunks">,
      project: ProjectId,
      { kbIds, terms, mayBeOld }: { kbIds: readonly string[]; terms: readonly string[]; mayBeOld: boolean },
    ): Promise<SearchedPostings> {
      const key = `${project}/${kbIds.toSorted().join()}`;
      const known = mayBeOld ? postings.get(key) : undefined;
      const unknown = known === undefined ? terms : terms.filter((term) => !known.blocksOf.has(term));
      if (known !== undefined && unknown.length === 0) {
        return { kbs: known.kbs, blocks: blocksOf(known, terms), isRecalled: true };
      }
      const { kbs, blocks } = await store.chunks.readPostings(project, { kbIds, terms: unknown });
      if (known !== undefined && versionsOf(kbs) !== versionsOf(known.kbs)) {
        return this.readPostings(store, project, { kbIds, terms, mayBeOld: false });
      }
      if (known === undefined) postings.delete(key);
      const base = known ?? { kbs, blocksOf: new Map<string, PostingBlock[]>() };
      // What is too much to be remembered is in `blocks` alone.
      const place = (block: PostingBlock) => ({ ...block, term: terms.indexOf(unknown[block.term] ?? "") });
      const recalled = known === undefined ? [] : blocksOf(known, terms);
      const found = [...recalled, ...blocks.map(place)];
      rememberPostings(key, base, unknown, blocks);
      return { kbs, blocks: found, isRecalled: false };
    },

    /** Returns the documents of passages; of small knowledge bases all of them, read once for each version. */
    async findDocuments(
      store: Pick<Store, "chunks">,
      kbs: readonly SearchedKb[],
      passages: readonly { kbId: string; number: number }[],
    ): Promise<NumberedDocument[]> {
      if (passages.length === 0) return [];
      const used = kbs.filter(({ id }) => passages.some(({ kbId }) => kbId === id));
      if (used.some((kb) => kb.documentCount > MAX_DOCUMENTS)) return store.chunks.findDocuments(passages);
      const unknown = used.filter(({ id, version }) => documents.get(id)?.version !== version);
      if (unknown.length > 0) {
        const read = await store.chunks.listDocuments(unknown.map(({ id }) => id));
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
      // Forgotten by another search meanwhile.
      if (found.includes(undefined)) return store.chunks.findDocuments(passages);
      return found.flatMap((own) => own ?? []);
    },
  };
}

/** The postings of these terms, each with the index of its term. */
const blocksOf = (known: KnownPostings, terms: readonly string[]): PostingBlock[] =>
  terms.flatMap((term, index) => (known.blocksOf.get(term) ?? []).map((block) => ({ ...block, term: index })));

const versionsOf = (kbs: readonly SearchedKb[]): string =>
  kbs
    .map(({ id, version }) => `${id} ${version}`)
    .toSorted()
    .join();

type KnownBases = ReturnType<typeof createKnownBases>;

const ofStores = new WeakMap<Store["chunks"], KnownBases>();

/** Returns what this process remembers of the knowledge bases of a store. */
export function knownBasesOf({ chunks }: Pick<Store, "chunks">): KnownBases {
  const known = ofStores.get(chunks) ?? createKnownBases();
  ofStores.set(chunks, known);
  return known;
}

/** True if the knowledge bases that were searched have the languages that were assumed. */
export function areCurrent(assumed: readonly KnownBase[], searched: readonly SearchedKb[]): boolean {
  return assumed.every(({ id, languages }) => {
    const found = searched.find((kb) => kb.id === id);
    return found !== undefined && found.languages.join() === languages.join();
  });
}

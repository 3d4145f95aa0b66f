import type { NumberedDocument, ProjectId, SearchedKb, Store } from "@svc/store";

/** What a search needs to know of a knowledge base before it reads postings. */
export interface KnownBase {
  id: string;
  languages: string[];
}

interface KnownDocuments {
  version: string;
  documents: NumberedDocument[];
}

/** Knowledge bases with more documents are asked for the documents of the best passages only. */
const MAX_DOCUMENTS = 500;
/** Everything is forgotten above these sizes: together some megabytes. */
const MAX_BASES = 2_000;
const MAX_KNOWN_DOCUMENTS = 50_000;

/**
 * Creates what a process remembers of knowledge bases between searches, which saves two of four statements. Nothing of it
 * is believed unchecked: postings come with the present languages and version of their knowledge base, and passages are
 * read by the numbers that their document has at that moment.
 */
function createKnownBases() {
  const languages = new Map<string, string[]>();
  const documents = new Map<string, KnownDocuments>();
  let documentCount = 0;

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

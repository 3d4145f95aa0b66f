import type { Log } from "@svc/log";
import type { OutdatedDocument, Store } from "@svc/store";
import { postgresConfigOf } from "@svc/text";
import { INDEX_VERSION, asIndexed, countChunks } from "./index-words.ts";

/** Documents that are looked up at once, and passages of one transaction unless one document has more. */
const MAX_DOCUMENTS = 50;
const MAX_CHUNKS = 500;

/**
 * Indexes documents again that an older version of the program has indexed, from the stored passages, until none is
 * left or `signal` is aborted; returns their number. They are found again from then on, a batch at a time. Safe to
 * repeat, beside any change, and on several replicas at once: each batch is one transaction, which leaves out what
 * another one has done or changed.
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

/** Documents of the same knowledge base, as many as one transaction takes. */
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

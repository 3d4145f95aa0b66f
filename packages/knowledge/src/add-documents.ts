import { ServiceError, KB_LIMITS, kbNameSchema } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { IndexedChunks, NewDocument, ProjectId, PutDocument, Store, Kb } from "@svc/store";
import { identifyDocument } from "./add-document.ts";
import type { AddedDocument, CheckedDocument, DocumentInput } from "./add-document.ts";

/** Result of adding one of several documents. */
export type AddDocumentResult = AddedDocument | { status: "refused"; error: ServiceError };

/** Maximum number of documents per transaction, and of their characters unless a single document has more. */
const BATCH = { documents: 50, chars: 1_000_000 } as const;

/**
 * Adds documents to a knowledge base like `addDocument`, about 50 per transaction, which is several times as fast. A
 * document that cannot be read is rejected without affecting the others. Returns results in the order of the documents;
 * of those with the same key the last one wins. Throws `not_found` for a knowledge base that is not in this project,
 * and `storage_full`.
 */
export async function addDocuments(
  deps: { store: Pick<Store, "documents" | "storedBytes">; log: Log },
  project: ProjectId,
  kbId: string,
  inputs: readonly DocumentInput[],
): Promise<AddDocumentResult[]> {
  const { store, log } = deps;
  const results: AddDocumentResult[] = [];
  // The next documents are read while the previous ones are written.
  let writing: Promise<void> = Promise.resolve();
  for (const batch of batchesOf(inputs)) {
    const read = await readBatch(store, project, kbId, batch);
    await writing;
    writing = write(read);
    // Awaited above or below; until then an error must not count as unhandled.
    writing.catch(() => undefined);
  }
  await writing;
  return results;

  async function write(read: readonly ReadDocument[]): Promise<void> {
    const cut = read.flatMap((one) => ("cut" in one ? [one.cut] : []));
    const bytes = cut.reduce((sum, { document }) => sum + document.sizeBytes, 0);
    if (cut.length > 0) await store.storedBytes.checkRoom(project, "documents", bytes);
    const put = cut.length === 0 ? [] : await store.documents.putAll(project, kbId, cut);
    let next = 0;
    for (const one of read) {
      if ("error" in one) {
        results.push({ status: "refused", error: one.error });
        continue;
      }
      const { documentId, status, chunkCount } = "unchanged" in one ? one.unchanged : written(put[next++]);
      log.debug({ kbId, documentId, chunks: chunkCount }, `document ${status}`);
      results.push({ documentId, status, chunks: chunkCount });
    }
  }
}

type ReadDocument =
  | { error: ServiceError }
  | { unchanged: PutDocument }
  | { cut: { document: NewDocument; indexed: IndexedChunks } };

async function readBatch(
  store: Pick<Store, "documents">,
  project: ProjectId,
  kbId: string,
  batch: readonly DocumentInput[],
): Promise<ReadDocument[]> {
  const checked = await Promise.all(batch.map((input) => orRefused(() => identifyDocument(input))));
  const known = checked.filter((one): one is CheckedDocument => !(one instanceof ServiceError));
  const unchanged = await store.documents.findAllUnchanged(project, kbId, known);
  const unchangedOf = new Map(known.map((one, index) => [one, unchanged[index] ?? null]));
  const read: ReadDocument[] = [];
  for (const one of checked) {
    if (one instanceof ServiceError) {
      read.push({ error: one });
      continue;
    }
    const same = unchangedOf.get(one) ?? null;
    if (same !== null) {
      read.push({ unchanged: same });
      continue;
    }
    const cut = await orRefused(() => one.cut());
    read.push(cut instanceof ServiceError ? { error: cut } : { cut });
  }
  return read;
}

/** A `ServiceError` is about the document; any other error is an internal one. */
async function orRefused<Result>(read: () => Result | Promise<Result>): Promise<Result | ServiceError> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

function written(put: PutDocument | undefined): PutDocument {
  if (put === undefined) throw new Error("a document was not stored");
  return put;
}

/** Groups documents in order, without duplicate keys in a batch. */
function batchesOf(inputs: readonly DocumentInput[]): DocumentInput[][] {
  const batches: DocumentInput[][] = [];
  let batch: DocumentInput[] = [];
  let chars = 0;
  let keys = new Set<string>();
  for (const input of inputs) {
    const isFull = batch.length >= BATCH.documents || chars + input.text.length > BATCH.chars;
    if (batch.length > 0 && (isFull || keys.has(input.key))) {
      batches.push(batch);
      batch = [];
      chars = 0;
      keys = new Set();
    }
    batch.push(input);
    chars += input.text.length;
    keys.add(input.key);
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

/**
 * Returns the knowledge base of this name in this project, and creates it if there is none. Throws `invalid_request`
 * for a name that is empty, longer than 200 characters or contains NUL or a lone surrogate.
 */
export async function ensureKb(
  deps: { store: Store },
  project: ProjectId,
  name: string,
): Promise<{ kb: Kb; created: boolean }> {
  if (!kbNameSchema.safeParse(name).success) {
    const { nameMaxChars } = KB_LIMITS;
    throw new ServiceError(
      "invalid_request",
      `The name of a knowledge base must have 1 to ${nameMaxChars} characters.`,
      {
        errors: [{ pointer: "/name", code: "invalid_name", detail: `1 to ${nameMaxChars} characters` }],
      },
    );
  }
  return deps.store.kbs.ensure(project, name);
}

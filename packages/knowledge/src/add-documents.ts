import { KB_LIMITS, ServiceError, kbNameSchema } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { IndexedChunks, Kb, NewChunk, NewDocument, ProjectId, PutDocument, Store } from "@svc/store";
import { identifyDocument } from "./add-document.ts";
import type { AddedDocument, CheckedDocument, DocumentInput } from "./add-document.ts";
import { chunkDocument } from "./chunk-document.ts";

/** Result of adding one of several documents. */
type AddDocumentResult = AddedDocument | { status: "refused"; error: ServiceError };

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

/** A stored document without its text. */
interface StoredDocument {
  key: string;
  title: string;
  url: string | null;
  mime: string;
}

type KeptChunk = Pick<NewChunk, "headingPath" | "text" | "startOffset" | "endOffset" | "page">;

/** Longer documents are not reassembled, because splitting them twice takes seconds. */
const MAX_CHARS = 1_000_000;

/**
 * Replaces text at one position of a document. Only passages are stored, so the document is reassembled from them and
 * split again as a check. Returns null if that gives other passages, if the document has pages, if `before` does not
 * occur exactly once, or if it is longer than a million characters.
 */
export function rewriteDocument(
  document: StoredDocument,
  chunks: readonly KeptChunk[],
  { before, after }: { before: string; after: string },
): DocumentInput | null {
  const { key, title, url, mime } = document;
  const chars = chunks.reduce((sum, { text }) => sum + text.length, 0);
  if (before.trim() === "" || chars > MAX_CHARS || chunks.some(({ page }) => page !== null)) return null;
  const text = joinChunks(chunks, mime);
  const cut = chunkDocument({ text, mime }).chunks;
  const isSame =
    cut.length === chunks.length &&
    cut.every((chunk, index) => {
      const kept = chunks[index];
      return kept !== undefined && chunk.text === kept.text && isSamePath(chunk.headingPath, kept.headingPath);
    });
  if (!isSame) return null;
  const position = text.indexOf(before);
  if (position === -1 || text.includes(before, position + 1)) return null;
  const changed = `${text.slice(0, position)}${after}${text.slice(position + before.length)}`;
  return { key, title, text: changed, mime, ...(url === null ? {} : { url }) };
}

function joinChunks(chunks: readonly KeptChunk[], mime: string): string {
  const parts: string[] = [];
  let previous: KeptChunk | null = null;
  for (const chunk of chunks) {
    const isNewSection = !isSamePath(previous?.headingPath ?? [], chunk.headingPath);
    if (isNewSection) parts.push(headingsOf(previous?.headingPath ?? [], chunk, mime));
    else if (previous !== null) parts.push(gapBetween(previous, chunk));
    parts.push(chunk.text);
    previous = chunk;
  }
  return parts.join("");
}

/** Returns the headings between two sections; a passage that is a heading itself contains its own. */
function headingsOf(open: readonly string[], { headingPath, text }: KeptChunk, mime: string): string {
  if (mime === "text/plain") return "\n\n";
  let same = 0;
  while (same < Math.min(open.length, headingPath.length - 1) && open[same] === headingPath[same]) same += 1;
  const isHeading = /^#{1,6}\s/.test(text) && !text.includes("\n");
  const lines = headingPath
    .slice(same, isHeading ? -1 : undefined)
    .map((heading, index) => `${"#".repeat(same + index + 1)} ${heading}`);
  return ["", ...lines, ""].join("\n\n");
}

/** Returns the gap between two passages of one section, whose length is known. */
function gapBetween(previous: KeptChunk, next: KeptChunk): string {
  const length = next.startOffset - previous.endOffset;
  if (length <= 0) return "";
  if (length > 1) return "\n\n";
  const isLine = /^\s*(?:[-*+|>]|\d{1,9}[.)]\s)/.test(next.text);
  return isLine ? "\n" : " ";
}

function isSamePath(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((heading, index) => heading === other[index]);
}

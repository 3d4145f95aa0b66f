import { createHash } from "node:crypto";
import { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { IndexedChunks, NewDocument, ProjectId, PutDocument, Store } from "@svc/store";
import { cutText, detectLanguage, postgresConfigOf } from "@svc/text";
import { checkDocument } from "./check-document.ts";
import type { DocumentInput } from "./check-document.ts";
import { chunkDocument } from "./chunk-document.ts";
import { indexChunks } from "./index-words.ts";

/** What became of a document that was added. */
export interface AddedDocument {
  documentId: string;
  status: PutDocument["status"];
  /** Number of its passages. */
  chunks: number;
}

/** A document that was checked, and its identity; it is not cut into passages yet. */
export interface CheckedDocument {
  key: string;
  /** Hash of all that its passages are made from: the same hash means that there is nothing to do. */
  contentHash: Buffer;
  /** Cuts it into passages. Throws `invalid_request` when there are more than a real document has. */
  cut(): Promise<{ document: NewDocument; indexed: IndexedChunks }>;
}

/** Raised whenever passages are cut in another way, so that documents added again are read anew. */
const CUT_VERSION = 1;

/** More passages than a document of 10 MB has when it is no attack. */
const MAX_CHUNKS = 25_000;

/** Titles are shown in lists and beside answers. */
const TITLE_CHARS = 300;

/**
 * Adds a document to a knowledge base, or replaces the one with the same key; one that has not changed is left as it
 * is. It can be found as soon as this resolves. Throws a `ServiceError` for what cannot be read (`invalid_request`,
 * `payload_too_large`, `unsupported_media_type`) and `not_found` for a knowledge base that this project does not have.
 */
export async function addDocument(
  deps: { store: Store; log: Log },
  project: ProjectId,
  kbId: string,
  input: DocumentInput,
): Promise<AddedDocument> {
  const { store, log } = deps;
  const checked = identifyDocument(input);
  const put = (await store.documents.findUnchanged(project, kbId, checked)) ?? (await putDocument());
  log.debug({ kbId, documentId: put.documentId, chunks: put.chunkCount }, `document ${put.status}`);
  return { documentId: put.documentId, status: put.status, chunks: put.chunkCount };

  async function putDocument(): Promise<PutDocument> {
    const { document, indexed } = await checked.cut();
    return store.documents.put(project, kbId, document, indexed);
  }
}

/** Checks a document and says what it is known by. Throws as `addDocument` for what cannot be read. */
export function identifyDocument(input: DocumentInput): CheckedDocument {
  const { mime, sizeBytes } = checkDocument(input);
  const { key, text, pageStarts } = input;
  const url = input.url ?? null;
  const contentHash = createHash("sha256")
    .update(JSON.stringify([CUT_VERSION, mime, input.title ?? null, url, ...(pageStarts ?? [])]))
    .update("\n")
    .update(text)
    .digest();

  async function cut() {
    const { heading, chunks } = chunkDocument({ text, mime });
    if (chunks.length > MAX_CHUNKS) {
      throw new ServiceError(
        "invalid_request",
        `The document falls into ${chunks.length} passages, ${MAX_CHUNKS} is the most; split it into several documents.`,
      );
    }
    const title = cutText((input.title ?? heading ?? key).trim(), TITLE_CHARS);
    const { language } = detectLanguage(text);
    const textSearchConfig = postgresConfigOf(language);
    const document = { key, title, url, mime, sizeBytes, contentHash, language, textSearchConfig };
    return { document, indexed: await indexChunks(chunks, { title, language, pageStarts }) };
  }

  return { key, contentHash, cut };
}

import { createHash } from "node:crypto";
import { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { ProjectId, PutDocument, Store } from "@svc/store";
import { cutText, detectLanguage, postgresConfigOf } from "@svc/text";
import { checkDocument } from "./check-document.ts";
import type { DocumentInput } from "./check-document.ts";
import { chunkDocument } from "./chunk-document.ts";
import { indexWords } from "./index-words.ts";

/** What became of a document that was added. */
export interface AddedDocument {
  documentId: string;
  status: PutDocument["status"];
  /** Number of its passages. */
  chunks: number;
}

/** Raised whenever passages are cut or counted in another way, so that documents added again are read anew. */
const INDEX_VERSION = 1;

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
  const { mime, sizeBytes } = checkDocument(input);
  const url = input.url ?? null;
  const contentHash = createHash("sha256")
    .update(JSON.stringify([INDEX_VERSION, mime, input.title ?? null, url]))
    .update("\n")
    .update(input.text)
    .digest();
  const unchanged = await store.documents.findUnchanged(project, kbId, { key: input.key, contentHash });
  const put = unchanged ?? (await putDocument());
  log.debug({ kbId, documentId: put.documentId, chunks: put.chunkCount }, `document ${put.status}`);
  return { documentId: put.documentId, status: put.status, chunks: put.chunkCount };

  function putDocument(): Promise<PutDocument> {
    const { heading, chunks } = chunkDocument({ text: input.text, mime });
    if (chunks.length > MAX_CHUNKS) {
      throw new ServiceError(
        "invalid_request",
        `The document falls into ${chunks.length} passages, ${MAX_CHUNKS} is the most; split it into several documents.`,
      );
    }
    const title = cutText((input.title ?? heading ?? input.key).trim(), TITLE_CHARS);
    const { language } = detectLanguage(input.text);
    return store.documents.put(
      project,
      kbId,
      {
        key: input.key,
        title,
        url,
        mime,
        sizeBytes,
        contentHash,
        language,
        textSearchConfig: postgresConfigOf(language),
      },
      chunks.map((chunk) => ({ ...chunk, ...indexWords(chunk, { title, language }) })),
    );
  }
}

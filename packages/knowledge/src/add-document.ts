import { createHash } from "node:crypto";
import { ServiceError, withoutBidiControls, KB_LIMITS, isMalformedText, parseUrl } from "@svc/contracts";
import type { FieldError } from "@svc/contracts";
import { cutText, detectLanguage, postgresConfigOf } from "@svc/text";
import type { Log } from "@svc/log";
import type { IndexedChunks, NewDocument, ProjectId, PutDocument, Store } from "@svc/store";
import { chunkDocument } from "./chunk-document.ts";
import { asIndexed, countChunks } from "./index-words.ts";
import type { CountedChunks } from "./index-words.ts";
import { looksBinary } from "./looks-binary.ts";

/** A document as it is handed in. */
export interface DocumentInput {
  /** What its source calls it (path, URL, a chosen name): the same key replaces the document. At most 2,000 bytes. */
  key: string;
  /** Defaults to the first heading, else to the key. At most 4,000 bytes; shown up to 300 characters. */
  title?: string;
  /** At most 10 MB in UTF-8. */
  text: string;
  /** `text/markdown` or `text/plain`; parameters are ignored. */
  mime: string;
  /** Where people can read it; http or https. */
  url?: string;
  /** Where each page of a paged document begins in `text` (UTF-16 units), ascending. */
  pageStarts?: number[];
}

/** Most bytes of a document's text in UTF-8. */
const DOCUMENT_MAX_BYTES = 10 * 1024 * 1024;

// A key has to fit into an entry of the index that makes it unique.
const { keyMaxBytes: KEY_MAX_BYTES, titleMaxBytes: TITLE_MAX_BYTES, urlMaxChars: URL_MAX_CHARS } = KB_LIMITS;

const MIMES: Readonly<Record<string, "text/markdown" | "text/plain">> = {
  "text/markdown": "text/markdown",
  "text/x-markdown": "text/markdown",
  "text/plain": "text/plain",
};

/** Result of adding a document. */
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
  /** Cuts it into passages. Throws `invalid_request` for what cannot be cut, or has more than a real document has. */
  cut(): Promise<{ document: NewDocument; indexed: IndexedChunks }>;
}

/** A document that was cut into passages, and their words. */
export interface CutDocument extends CountedChunks {
  document: NewDocument;
}

/** Raised whenever passages are cut differently, so that documents that are added again are read again. */
export const CUT_VERSION = 3;

/** More passages than a document of 10 MB has when it is no attack. */
const MAX_CHUNKS = 25_000;

/** Titles are shown in lists and next to answers. */
const TITLE_CHARS = 300;

/**
 * Adds a document to a knowledge base, or replaces the one with the same key; one that has not changed is left as it
 * is. It can be found as soon as this resolves. Throws a `ServiceError` for what cannot be read (`invalid_request`,
 * `payload_too_large`, `unsupported_media_type`), `storage_full`, and `not_found` for a knowledge base that this
 * project does not have.
 */
export async function addDocument(
  deps: { store: Store; log: Log },
  project: ProjectId,
  kbId: string,
  input: DocumentInput,
): Promise<AddedDocument> {
  return addChecked(deps, project, kbId, identifyDocument(input));
}

/** As `addDocument` for a document that was checked. */
export async function addChecked(
  deps: { store: Store; log: Log },
  project: ProjectId,
  kbId: string,
  checked: CheckedDocument,
): Promise<AddedDocument> {
  const { store, log } = deps;
  const put = (await store.documents.findUnchanged(project, kbId, checked)) ?? (await putDocument());
  log.debug({ kbId, documentId: put.documentId, chunks: put.chunkCount }, `document ${put.status}`);
  return { documentId: put.documentId, status: put.status, chunks: put.chunkCount };

  async function putDocument(): Promise<PutDocument> {
    const { document, indexed } = await checked.cut();
    await store.storedBytes.checkRoom(project, "documents", document.sizeBytes);
    return store.documents.put(project, kbId, { document, indexed });
  }
}

/** Checks a document and says what it is known by. Throws as `addDocument` for what cannot be read. */
export function identifyDocument(input: DocumentInput): CheckedDocument {
  const identity = identityOf(input);
  return {
    key: input.key,
    contentHash: identity.contentHash,
    async cut() {
      const { document, ...counted } = await cutIdentified(input, identity);
      return { document, indexed: asIndexed(counted) };
    },
  };
}

/** Checks a document and cuts it into passages. Throws as `addDocument` for what cannot be read or cut. */
export function cutDocument(input: DocumentInput): Promise<CutDocument> {
  return cutIdentified(input, identityOf(input));
}

interface Identity {
  mime: "text/markdown" | "text/plain";
  sizeBytes: number;
  contentHash: Buffer;
}

function identityOf(input: DocumentInput): Identity {
  const { mime, sizeBytes } = checkDocument(input);
  const { title = null, url = null, pageStarts = [] } = input;
  const contentHash = createHash("sha256")
    .update(JSON.stringify([CUT_VERSION, mime, title, url, ...pageStarts]))
    .update("\n")
    .update(input.text)
    .digest();
  return { mime, sizeBytes, contentHash };
}

async function cutIdentified(input: DocumentInput, identity: Identity): Promise<CutDocument> {
  try {
    const { key, text, pageStarts } = input;
    const { heading, chunks } = chunkDocument({ text, mime: identity.mime });
    if (chunks.length > MAX_CHUNKS) {
      throw new ServiceError(
        "invalid_request",
        `The document would be split into ${chunks.length} passages; the maximum is ${MAX_CHUNKS}. Split it into several documents.`,
      );
    }
    const title = cutText(withoutBidiControls(input.title ?? heading ?? nameOf(key)).trim(), TITLE_CHARS);
    const { language } = detectLanguage(text);
    const textSearchConfig = postgresConfigOf(language);
    const document = { key, title, url: input.url ?? null, ...identity, language, textSearchConfig };
    return { document, ...(await countChunks(chunks, { title, language, pageStarts })) };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw tooComplexToCut(input.key, error);
  }
}

/** The name of a file: customers have no use for the folder that it lies in. An address stays as it is. */
function nameOf(key: string): string {
  if (/^https?:/i.test(key)) return key;
  return key.split(/[\\/]/).findLast((part) => part.trim() !== "") ?? key;
}

/** Whatever fails while a text is cut, an expression that runs out of its stack above all, fails for this text only. */
function tooComplexToCut(key: string, cause: unknown): ServiceError {
  const detail = `"${cutText(key, TITLE_CHARS)}" is too complex to be cut into passages; split it into smaller documents, or save it in a simpler form.`;
  return new ServiceError("invalid_request", detail, {
    errors: [{ pointer: "/text", code: "too_complex", detail }],
    cause,
  });
}

/**
 * Checks a document before it is read. Throws a `ServiceError` that says how to fix it: `invalid_request` with all
 * problems, `payload_too_large`, or `unsupported_media_type`. Returns its plain media type and its size in bytes.
 */
export function checkDocument(input: DocumentInput): { mime: "text/markdown" | "text/plain"; sizeBytes: number } {
  const mime = MIMES[input.mime.split(";", 1)[0]?.trim().toLowerCase() ?? ""];
  if (mime === undefined) {
    throw new ServiceError(
      "unsupported_media_type",
      "Only text/markdown and text/plain documents are supported. Convert the document first.",
    );
  }
  const sizeBytes = Buffer.byteLength(input.text);
  if (sizeBytes > DOCUMENT_MAX_BYTES) {
    throw new ServiceError(
      "payload_too_large",
      `A document can have at most 10 MB of text, but this one has ${(sizeBytes / 1024 / 1024).toFixed(1)} MB. Split it.`,
    );
  }
  const errors = [
    ...errorsOfText(input.text),
    ...errorsOfString("/key", input.key, KEY_MAX_BYTES),
    ...(input.title === undefined ? [] : errorsOfString("/title", input.title, TITLE_MAX_BYTES)),
    ...(input.url === undefined ? [] : errorsOfUrl(input.url)),
  ];
  if (errors.length > 0) {
    const detail = errors.map((error) => `${error.pointer}: ${error.detail}`).join("; ");
    throw new ServiceError("invalid_request", `The document cannot be added. ${detail}.`, { errors });
  }
  return { mime, sizeBytes };
}

function errorsOfText(text: string): FieldError[] {
  const error = (code: string, detail: string): FieldError[] => [{ pointer: "/text", code, detail }];
  if (looksBinary(text)) return error("binary", "is binary data, not UTF-8 text; convert it to text first");
  if (isMalformedText(text))
    return error("malformed_text", "must not contain NUL characters or unpaired surrogates; save it as UTF-8");
  if (text.trim() === "") return error("too_short", "the document is empty");
  return [];
}

function errorsOfString(pointer: string, value: string, maxBytes: number): FieldError[] {
  const error = (code: string, detail: string): FieldError[] => [{ pointer, code, detail }];
  if (isMalformedText(value)) return error("malformed_text", "must not contain NUL characters or unpaired surrogates");
  if (value.trim() === "") return error("too_short", "must not be empty or only whitespace");
  if (Buffer.byteLength(value) > maxBytes) return error("too_long", `must have at most ${maxBytes} bytes in UTF-8`);
  return [];
}

function errorsOfUrl(url: string): FieldError[] {
  const isWeb = ["http:", "https:"].includes(parseUrl(url)?.protocol ?? "") && !isMalformedText(url);
  return isWeb && url.length <= URL_MAX_CHARS
    ? []
    : [
        {
          pointer: "/url",
          code: "invalid_url",
          detail: `must be an http or https URL of at most ${URL_MAX_CHARS} characters`,
        },
      ];
}

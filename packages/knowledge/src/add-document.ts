import { createHash } from "node:crypto";
import { ServiceError, withoutBidiControls, KB_LIMITS, isMalformedText, parseUrl } from "@svc/contracts";
import type { FieldError } from "@svc/contracts";
import { cutText, detectLanguage, postgresConfigOf } from "@svc/text";
import type { Log } from "@svc/log";
import type { IndexedChunks, NewDocument, ProjectId, PutDocument, Store } from "@svc/store";
import { chunkDocument } from "./chunk-document.ts";
import { asIndexed, countChunks } from "./index-words.ts";
import type { CountedChunks } from "./index-words.ts";
import { looksBinary } from "./parse/detect-format.ts";

/** A document to add. */
export interface DocumentInput {
  /** Identifier in its source (path, URL, a chosen name): the same key replaces the document. At most 2,000 bytes. */
  key: string;
  /** The first heading by default, else the key. At most 4,000 bytes; shown up to 300 characters. */
  title?: string;
  /** At most 10 MB in UTF-8. */
  text: string;
  /** `text/markdown` or `text/plain`; parameters are ignored. */
  mime: string;
  /** http or https URL where people can read it. */
  url?: string;
  /** Start of each page of a paged document in `text` (UTF-16 units), ascending. */
  pageStarts?: number[];
}

/** Maximum size of a document's text, in bytes of UTF-8. */
const DOCUMENT_MAX_BYTES = 10 * 1024 * 1024;

// A key must fit into an entry of the unique index.
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

/** A validated document and its identity; it is not split into passages yet. */
export interface CheckedDocument {
  key: string;
  /** Hash of everything its passages depend on: an equal hash means that nothing has changed. */
  contentHash: Buffer;
  /** Splits it into passages. Throws `invalid_request` if it cannot be split or has too many passages. */
  cut(): Promise<{ document: NewDocument; indexed: IndexedChunks }>;
}

/** A document split into passages, with their words. */
export interface CutDocument extends CountedChunks {
  document: NewDocument;
}

/** Increased whenever splitting changes, so that documents that are added again are read again. */
export const CUT_VERSION = 3;

/** Maximum number of passages; a real document of 10 MB has fewer. */
const MAX_CHUNKS = 25_000;

/** Maximum length of a title in lists and next to answers. */
const TITLE_CHARS = 300;

/**
 * Adds a document to a knowledge base, or replaces the one with the same key; does nothing if it is unchanged. It can
 * be found as soon as this resolves. Throws a `ServiceError` for a document that cannot be read (`invalid_request`,
 * `payload_too_large`, `unsupported_media_type`), `storage_full`, and `not_found` for a knowledge base that is not in
 * this project.
 */
export async function addDocument(
  deps: { store: Store; log: Log },
  project: ProjectId,
  kbId: string,
  input: DocumentInput,
): Promise<AddedDocument> {
  return addChecked(deps, project, kbId, identifyDocument(input));
}

/** Adds a validated document, like `addDocument`. */
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

/** Validates a document and returns its identity. Throws like `addDocument` if it cannot be read. */
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

/** Validates a document and splits it into passages. Throws like `addDocument` if it cannot be read or split. */
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

/** Returns the name of a file without its folder, which customers have no use for. A URL is returned unchanged. */
function nameOf(key: string): string {
  if (/^https?:/i.test(key)) return key;
  return key.split(/[\\/]/).findLast((part) => part.trim() !== "") ?? key;
}

/**
 * Wraps any error while splitting a text, such as a stack overflow in a regular expression, so that only this text
 * fails.
 */
function tooComplexToCut(key: string, cause: unknown): ServiceError {
  const detail = `"${cutText(key, TITLE_CHARS)}" is too complex to be cut into passages; split it into smaller documents, or save it in a simpler form.`;
  return new ServiceError("invalid_request", detail, {
    errors: [{ pointer: "/text", code: "too_complex", detail }],
    cause,
  });
}

/**
 * Validates a document before it is read. Throws a `ServiceError` that says how to fix it: `invalid_request` with all
 * problems, `payload_too_large`, or `unsupported_media_type`. Returns its media type without parameters and its size in
 * bytes.
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

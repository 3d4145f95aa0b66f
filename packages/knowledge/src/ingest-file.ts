import { createHash } from "node:crypto";
import { extname } from "node:path/posix";
import { isMalformedText, ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { DocumentSource, ProjectId, Store } from "@svc/store";
import { cutText } from "@svc/text";
import { addChecked, CUT_VERSION } from "./add-document.ts";
import type { AddedDocument, CheckedDocument, DocumentInput } from "./add-document.ts";

/** Error codes of a file of a supported format: `errors[0].code` of an `invalid_request`. */
type FileErrorCode =
  | "empty"
  | "binary"
  | "encrypted"
  | "truncated"
  | "damaged"
  | "no_text"
  | "too_many_pages"
  | "too_deep"
  | "too_slow"
  | "too_complex";

/**
 * Creates the error for a file that cannot be read. `detail` is a sentence about the file, without its name, as in `is
 * protected by a password; remove the password first`.
 */
export function fileError(name: string, code: FileErrorCode, detail: string, cause?: unknown): ServiceError {
  const message = `${quoteName(name)} ${detail}.`;
  return new ServiceError("invalid_request", message, { errors: [{ pointer: "/file", code, detail: message }], cause });
}

/** Creates the error for a file that needs too much memory. */
export function tooComplex(name: string): ServiceError {
  return fileError(name, "too_complex", "requires too much memory; split it into smaller files");
}

/** Creates the error for a file beyond the limit in `detail`. */
export function fileTooLarge(name: string, detail: string): ServiceError {
  return new ServiceError("payload_too_large", `${quoteName(name)} ${detail}.`);
}

/** Creates the error for an unsupported format; `detail` names it and the format to convert it to. */
export function fileUnsupported(name: string, detail: string): ServiceError {
  return new ServiceError("unsupported_media_type", `${quoteName(name)} ${detail}.`);
}

const NAME_CHARS = 200;

/** Returns an untrusted name on one line, with limited length. */
function quoteName(name: string): string {
  const line = name.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ").trim();
  return `"${line.length > NAME_CHARS ? `…${line.slice(-NAME_CHARS)}` : line}"`;
}

/** Formats a number of bytes. */
export function formatMb(bytes: number): string {
  const mb = bytes / 1024 / 1024;
  return `${Number.isInteger(mb) ? mb : mb.toFixed(1)} MB`;
}

/** Default titles of programs. */
const NO_TITLE =
  /^(?:untitled|document|dokument|book|workbook|presentation|microsoft (?:word|excel)|powerpoint)[\s\d-]*$|^microsoft \w+ - |\.(?:docx?|xlsx?|dotx?|rtf|indd|tex|qxd|pmd)$/i;

/** A file to read. */
export interface FileToRead {
  /** File name or path of a URL; its extension is only a hint, the content decides. */
  name: string;
  bytes: Uint8Array;
  /** As declared by a server or client; a hint. */
  mime?: string;
  /** URL that it was fetched from, to make links absolute. */
  url?: string;
  /** Its format if known, for example of a text in JSON, in UTF-8: then it is not detected. */
  format?: "plain" | "markdown" | "html" | "csv";
}

/** Text of a file, ready to be split into passages. */
export interface FileText {
  text: string;
  /** Media type of `text`. */
  mime: "text/markdown" | "text/plain";
  /** Title in the file's metadata, or null. */
  title: string | null;
  /** Media type of the file, for example application/pdf. */
  sourceMime: string;
  /** Start of each page of a paged document in `text`, in UTF-16 units. */
  pageStarts?: number[];
  /** Absolute URLs that an HTML page links to, each once, without those that robots should not follow. */
  links?: string[];
}

/** Returns a title from metadata, or null if it says nothing about the document. */
export function sensibleTitle(title: string): string | null {
  const line = title.replace(/\s+/g, " ").trim();
  return line === "" || NO_TITLE.test(line) || !/\p{L}{2}/u.test(line) ? null : line;
}

/** A file to convert to a document. */
export interface FileToIngest extends FileToRead {
  /** Identifier in its source: the same key replaces the document. */
  key: string;
  /** The title in the file by default, else its first heading, else the key. */
  title?: string;
}

/** A file converted to a document, and its type. */
export interface DocumentOfFile {
  checked: CheckedDocument;
  source: Omit<DocumentSource, "hash">;
}

/** The functions of a file reader that are used here. */
interface DocumentReader {
  readDocument(file: FileToIngest, signal?: AbortSignal): Promise<DocumentOfFile>;
}

/** Increased whenever reading changes, so that files that are added again are read again. */
const READER_VERSION = 3;

/** Maximum length of a title from a file. */
const TITLE_CHARS = 300;

/**
 * Reads a file (PDF, DOCX, XLSX, HTML, CSV, Markdown, text) and adds its text to a knowledge base, or replaces the
 * document with the same key. Unchanged bytes are not read again, and a file with unchanged text changes nothing; a
 * pending job for the document is dropped, because this file is newer. Throws a `ServiceError` for a file that cannot
 * be read (`invalid_request`, `payload_too_large`, `unsupported_media_type`) and `not_found` for a knowledge base that
 * is not in this project.
 */
export async function ingestFile(
  deps: { store: Store; log: Log; reader: DocumentReader },
  project: ProjectId,
  kbId: string,
  file: FileToIngest,
): Promise<AddedDocument> {
  const { store, reader } = deps;
  const hash = hashSource(file);
  const unchanged = await store.documents.findBySource(project, kbId, { key: file.key, hash });
  if (unchanged !== null) {
    await store.documents.deleteQueuedIngest(project, unchanged.documentId);
    return { documentId: unchanged.documentId, status: "unchanged", chunks: unchanged.chunkCount };
  }
  const { checked, source } = await reader.readDocument(file);
  const added = await addChecked(deps, project, kbId, checked);
  if (added.status === "unchanged") await store.documents.deleteQueuedIngest(project, added.documentId);
  await store.documents.recordSource(
    project,
    { id: added.documentId, contentHash: checked.contentHash },
    { hash, ...source },
  );
  return added;
}

/**
 * Returns a hash of everything a document depends on: bytes, file extension, declared properties, and the versions of
 * reading and splitting. An equal hash means that reading it again gives the same document.
 */
export function hashSource(file: Omit<FileToIngest, "key">): Buffer {
  const ending = extname(file.name).toLowerCase();
  return createHash("sha256")
    .update(
      JSON.stringify([READER_VERSION, CUT_VERSION, ending, file.mime ?? null, file.url ?? null, file.title ?? null]),
    )
    .update("\n")
    .update(file.bytes)
    .digest();
}

/** Creates the document of a file from its text. */
export function documentOf(file: Omit<FileToIngest, "bytes">, read: Omit<FileText, "sourceMime">): DocumentInput {
  const { text, mime, title: ownTitle, pageStarts } = read;
  const title = file.title ?? cleanTitle(ownTitle);
  return {
    key: file.key,
    text,
    mime,
    ...(title === undefined ? {} : { title }),
    ...(file.url === undefined ? {} : { url: file.url }),
    ...(pageStarts === undefined ? {} : { pageStarts }),
  };
}

/** Returns the title of a file, cleaned for display; undefined if there is none. */
function cleanTitle(title: string | null): string | undefined {
  if (title === null || isMalformedText(title) || title.trim() === "") return undefined;
  return cutText(title.trim(), TITLE_CHARS);
}

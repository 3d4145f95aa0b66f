import { createHash } from "node:crypto";
import { extname } from "node:path/posix";
import { isMalformedText } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { DocumentSource, ProjectId, Store } from "@svc/store";
import { cutText } from "@svc/text";
import { CUT_VERSION, addChecked } from "./add-document.ts";
import type { AddedDocument, CheckedDocument, DocumentInput } from "./add-document.ts";
import type { FileText, FileToRead } from "./parse/file-text.ts";

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

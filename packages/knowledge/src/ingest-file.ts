import { createHash } from "node:crypto";
import { extname } from "node:path/posix";
import { isMalformedText } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { DocumentSource, ProjectId, Store } from "@svc/store";
import { cutText } from "@svc/text";
import { CUT_VERSION, addChecked } from "./add-document.ts";
import type { AddedDocument, CheckedDocument, DocumentInput } from "./add-document.ts";
import type { FileText, FileToRead } from "./parse/file-text.ts";

/** A file that is to become a document. */
export interface FileToIngest extends FileToRead {
  /** What its source calls it: the same key replaces the document. */
  key: string;
  /** Defaults to what the file names as its title, else its first heading, else the key. */
  title?: string;
}

/** A file that was read as a document, and what it was. */
export interface DocumentOfFile {
  checked: CheckedDocument;
  source: Omit<DocumentSource, "hash">;
}

/** What is needed of a file reader. */
export interface DocumentReader {
  readDocument(file: FileToIngest, signal?: AbortSignal): Promise<DocumentOfFile>;
}

/** Raised whenever files are read differently, so that files that are added again are read again. */
const READER_VERSION = 3;

/** Titles that files name of themselves may be anything. */
const TITLE_CHARS = 300;

/**
 * Reads a file (PDF, DOCX, XLSX, HTML, CSV, Markdown, text) and adds what it says to a knowledge base, or replaces the
 * document with the same key. The same bytes again are left as they are without being read, and so is a file that says
 * the same as before; what waits to be read for the document is dropped, since this is newer. Throws a `ServiceError`
 * for a file that cannot be read (`invalid_request`, `payload_too_large`, `unsupported_media_type`) and `not_found` for
 * a knowledge base that this project does not have.
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
    await store.documents.dropWaiting(project, unchanged.documentId);
    return { documentId: unchanged.documentId, status: "unchanged", chunks: unchanged.chunkCount };
  }
  const { checked, source } = await reader.readDocument(file);
  const added = await addChecked(deps, project, kbId, checked);
  if (added.status === "unchanged") await store.documents.dropWaiting(project, added.documentId);
  await store.documents.noteSource(
    project,
    { id: added.documentId, contentHash: checked.contentHash },
    { hash, ...source },
  );
  return added;
}

/**
 * Hash of all that a document is made from: bytes, the ending of the name, what was declared, and the versions of
 * reading and cutting. The same hash means that reading it again would give the same document.
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

/** The document that a file becomes, from what it says. */
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

/** A title that a file names, as one that is fit to show; undefined when there is none. */
function cleanTitle(title: string | null): string | undefined {
  if (title === null || isMalformedText(title) || title.trim() === "") return undefined;
  return cutText(title.trim(), TITLE_CHARS);
}

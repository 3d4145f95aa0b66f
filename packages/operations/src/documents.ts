import { createHash } from "node:crypto";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import {
  KB_LIMITS,
  ServiceError,
  checkInput,
  documentInputSchema,
  documentStatusSchema,
  fileFactsSchema,
  invalidInput,
} from "@svc/contracts";
import type { DocumentItem, PassageItem, DocumentRequest, FileFacts, ImportItem } from "@svc/contracts";
import { checkDocument, hashSource } from "@svc/knowledge";
import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import { isUuid } from "@svc/primitives";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { DocumentState, NewIngest, Store } from "@svc/store";
import { audited } from "./audited.ts";
import { leaveToSweeper, readPage, operation } from "./operation.ts";
import { requireKb } from "./kbs.ts";

/** Dependencies of adding documents. */
export interface IngestDeps {
  store: Store;
  queues: Queues;
  log: Log;
  /** Rejects forbidden addresses immediately. */
  fetchGuard: Pick<AddressGuard, "checkUrl">;
}

/** An uploaded file. */
export interface UploadedFile {
  /** Its metadata as sent by the caller; not validated yet. */
  facts: FileFacts;
  bytes: Uint8Array;
  /** As declared by the client. */
  mime: string | null;
}

/** A document that was accepted. */
export interface QueuedDocument {
  item: DocumentItem;
  /** False if the same content was read before or is pending; then nothing was done. */
  isNew: boolean;
}

function asItem(document: DocumentState): DocumentItem {
  const { id, kbId, key, title, url, mime, sizeBytes, language, chunkCount, status, error, updatedAt } = document;
  return {
    id,
    kbId,
    key,
    title,
    url,
    mime,
    bytes: sizeBytes,
    language,
    chunks: chunkCount,
    status,
    error,
    updatedAt: updatedAt.toISOString(),
  };
}

async function readDocument(store: Store, { project }: Principal, kbId: string, id: string): Promise<DocumentState> {
  const document = isUuid(id) ? await store.documents.find(project, kbId, id) : null;
  if (document === null) throw new ServiceError("not_found", "No document with this ID exists in this knowledge base.");
  return document;
}

/** Returns a page of the documents of a knowledge base, newest first; `q` searches title and key. */
export const listDocuments = operation("listDocuments", async ({ store }, principal, kbId, { status, ...input }) => {
  const known = documentStatusSchema.optional().safeParse(status);
  const detail = `must be one of ${documentStatusSchema.options.join(", ")}`;
  await requireKb(store, principal, kbId);
  return readPage("documents", input, {
    read: (query) => store.documents.listPage(principal.project, kbId, { ...query, status: known.data }),
    asItem,
    found: known.success ? [] : [{ pointer: "/status", code: "invalid_value", detail }],
  });
});

/** Returns the document with this id, in a knowledge base of the principal's project. */
export const getDocument = operation("getDocument", async ({ store }, principal, kbId, id) => {
  await requireKb(store, principal, kbId);
  return asItem(await readDocument(store, principal, kbId, id));
});

/** Number of passages before and after the requested one. */
const PASSAGES_AROUND = 20;

/**
 * Returns a passage that an answer quotes, with those around it in its document. Throws not_found, also if the document
 * was read again since.
 */
export const getPassage = operation("getPassage", async ({ store }, principal, id): Promise<PassageItem> => {
  const passages = isUuid(id) ? await store.chunks.listAround(principal.project, id, PASSAGES_AROUND) : [];
  const found = passages.find((passage) => passage.id === id.toLowerCase());
  const document =
    found === undefined ? null : await store.documents.find(principal.project, found.kbId, found.documentId);
  if (found === undefined || document === null) {
    throw new ServiceError(
      "not_found",
      "No passage with this ID exists in this project. Its document may have been processed again.",
    );
  }
  const { kbId, documentId } = found;
  const { title, url } = asItem(document);
  const shown = passages.map(({ id: own, headingPath, text, page }) => ({ id: own, headingPath, text, page }));
  return { id: found.id, kbId, documentId, title, url, passages: shown };
});

/** Deletes a document and its pending updates, and returns it; it can no longer be found. */
export const deleteDocument = operation(
  "deleteDocument",
  async ({ store }, principal, kbId, id) => {
    await requireKb(store, principal, kbId);
    const document = await readDocument(store, principal, kbId, id);
    await store.documents.remove(principal.project, kbId, id);
    return asItem(document);
  },
  { audit: "documents.delete", objectOf: ([, id]) => id },
);

/** Announces accepted documents; while the queue is unavailable the sweeper does so later. */
async function announce({ queues, log }: IngestDeps, { project }: Principal, ingestIds: readonly string[]) {
  const ingests = ingestIds.map((ingestId) => ({ project, ingestId, attempts: 0 }));
  await leaveToSweeper(log, { ingestIds }, () => announceWork(queues, "ingest-documents", ingests));
}

async function queue(
  deps: IngestDeps,
  principal: Principal,
  kbId: string,
  ingests: readonly NewIngest[],
): Promise<QueuedDocument[]> {
  const { store } = deps;
  const queued = await store.ingests.queueDocuments(principal.project, kbId, ingests);
  await announce(
    deps,
    principal,
    queued.flatMap(({ ingestId, isNew }) => (isNew && ingestId !== null ? [ingestId] : [])),
  );
  const documents = queued.map(async ({ documentId, isNew }) => {
    const document = await store.documents.find(principal.project, kbId, documentId);
    // It may have been deleted meanwhile.
    if (document === null)
      throw new ServiceError("not_found", "The document was deleted immediately after it was added.");
    return { item: asItem(document), isNew };
  });
  return Promise.all(documents);
}

/** Returns the key of content without a name: the same content is the same document. */
function keyOfContent(kind: string, bytes: Uint8Array): string {
  return `${kind}:${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}`;
}

/** Returns a text to read later. Throws the errors that reading it would cause. */
function asText(request: DocumentRequest & { text: string }): NewIngest {
  const { text, title, url, mime = "text/markdown" } = request;
  const bytes = Buffer.from(text);
  const key = request.key ?? url ?? keyOfContent("text", bytes);
  checkDocument({ key, text, mime: "text/plain" });
  const facts = { ...(title === undefined ? {} : { title }), ...(url === undefined ? {} : { url }) };
  return {
    kind: "text",
    key,
    name: key,
    title: title ?? null,
    url: url ?? null,
    mime,
    bytes,
    sourceHash: hashSource({ name: "", mime, bytes, ...facts }),
  };
}

/** Returns a URL that may be fetched, without its fragment. Throws invalid_request. */
function checkUrl({ fetchGuard }: IngestDeps, field: "url" | "sitemap", text: string): string {
  const url = new URL(text);
  url.hash = "";
  const check = fetchGuard.checkUrl(url);
  if (check.ok) return url.href;
  const detail = `This URL cannot be fetched. ${check.reason}`;
  throw new ServiceError("invalid_request", detail, {
    errors: [{ pointer: `/${field}`, code: "forbidden_address", detail }],
  });
}

/**
 * Accepts a document described in JSON, to be read by the pipeline: a text, a page to fetch, or all pages of a website.
 * It is durable when this resolves. Throws payload_too_large, and rate_limited while too many documents of the project
 * are pending.
 */
export const addDocuments = operation(
  "addDocuments",
  async (deps: IngestDeps, principal, kbId, input) => {
    await requireKb(deps.store, principal, kbId);
    const request = checkInput(documentInputSchema, input, "The document");
    if (request.sitemap !== undefined) {
      return addSitemap(deps, principal, kbId, {
        url: checkUrl(deps, "sitemap", request.sitemap),
        maxPages: request.maxPages,
      });
    }
    const ingest = request.text === undefined ? asPage(deps, request) : asText({ ...request, text: request.text });
    const [queued] = await queue(deps, principal, kbId, [ingest]);
    if (queued === undefined) throw new Error("failed to queue the document");
    return queued;
  },
  { audit: "documents.add" },
);

function asPage(deps: IngestDeps, { url: text = "", key, title }: DocumentRequest): NewIngest {
  const url = checkUrl(deps, "url", text);
  return {
    kind: "page",
    key: key ?? url,
    name: url,
    title: title ?? null,
    url,
    mime: null,
    bytes: null,
    sourceHash: null,
  };
}

async function addSitemap(
  deps: IngestDeps,
  principal: Principal,
  kbId: string,
  { url, maxPages = KB_LIMITS.pagesDefaultCount }: { url: string; maxPages: number | undefined },
): Promise<{ import: ImportItem }> {
  const { store } = deps;
  const { importId, ingestId } = await store.ingests.queueSitemap(principal.project, kbId, { url, maxPages });
  await announce(deps, principal, [ingestId]);
  return { import: await readImport(store, principal, kbId, importId) };
}

/**
 * Checks before a body is read whether `addFiles` or `addDocuments` would accept it. Scope kb:write. Throws not_found.
 */
export const requireUploadTarget = audited(
  "documents.add",
  async function requireUploadTarget({ store }: { store: Store }, principal: Principal, kbId: string): Promise<void> {
    requireScope(principal, "kb:write");
    await requireKb(store, principal, kbId);
  },
  { notesOnlyFailures: true },
);

/**
 * Accepts files, all or none, to be read by the pipeline. They are durable when this resolves; one that cannot be read
 * fails later without affecting the others. Returns documents in the order of the files. Scope kb:write. Throws
 * not_found, invalid_request for no file, a single empty file, or two with the same key, and rate_limited while too
 * many documents of the project are pending.
 */
export const addFiles = audited(
  "documents.add",
  async function addFiles(
    deps: IngestDeps,
    principal: Principal,
    kbId: string,
    files: readonly UploadedFile[],
  ): Promise<QueuedDocument[]> {
    requireScope(principal, "kb:write");
    await requireKb(deps.store, principal, kbId);
    if (files.every(({ bytes }) => bytes.byteLength === 0)) {
      const detail = files.length === 0 ? "is required: a part with a filename" : "is empty";
      throw invalidInput([{ pointer: "/file", code: "required", detail }], "The upload");
    }
    const ingests = files.map(asFile);
    const keys = ingests.map(({ key }) => key);
    if (new Set(keys).size < keys.length) {
      const detail = "two files in one upload have the same name; upload them separately, each with its own key";
      throw invalidInput([{ pointer: "/file", code: "repeated", detail }], "The upload");
    }
    return queue(deps, principal, kbId, ingests);
  },
  { countOf: ([, files]) => files.length },
);

function asFile({ bytes, mime, facts }: UploadedFile): NewIngest {
  const { name, title, url, key } = checkInput(fileFactsSchema, facts, "The file");
  const hints = {
    ...(mime === null ? {} : { mime }),
    ...(title === undefined ? {} : { title }),
    ...(url === undefined ? {} : { url }),
  };
  return {
    kind: "file",
    key: key ?? name ?? url ?? keyOfContent("file", bytes),
    name: name ?? key ?? "",
    title: title ?? null,
    url: url ?? null,
    mime,
    bytes,
    sourceHash: hashSource({ name: name ?? key ?? "", bytes, ...hints }),
  };
}

async function readImport(store: Store, { project }: Principal, kbId: string, id: string): Promise<ImportItem> {
  const item = isUuid(id) && isUuid(kbId) ? await store.imports.find(project, kbId, id) : null;
  if (item === null) throw new ServiceError("not_found", "No import with this ID exists in this knowledge base.");
  return item;
}

/** Returns the import with this id and its progress. */
export const getImport = operation("getImport", async ({ store }, principal, kbId, id) => {
  return readImport(store, principal, kbId, id);
});

/**
 * Removes a finished import from the list and returns it; its documents stay. Throws invalid_request while some of its
 * pages wait.
 */
export const deleteImport = operation(
  "deleteImport",
  async ({ store }, principal, kbId, id) => {
    const item = await readImport(store, principal, kbId, id);
    if (!(await store.imports.remove(principal.project, kbId, id))) {
      throw new ServiceError("invalid_request", "The import is still running. Remove it when it has finished.");
    }
    return item;
  },
  { audit: "imports.delete", objectOf: ([, id]) => id },
);

/** Returns a page of the websites imported into a knowledge base, newest first. Throws like `listDocuments`. */
export const listImports = operation("listImports", async ({ store }, principal, kbId, input) => {
  await requireKb(store, principal, kbId);
  return readPage("imports", input, { read: (query) => store.imports.list(principal.project, kbId, query) });
});

import type { Db, PageQuery } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";
import { UNREAD_LANGUAGE, findBySource } from "./documents.ts";
import { withoutBidiControls } from "@svc/contracts";
import type { ImportItem } from "@svc/contracts";

/** A document to be read later. */
export interface NewIngest {
  kind: "text" | "file" | "page";
  /** Identifier in its source: the same key replaces the document. */
  key: string;
  /** File name or URL path; its extension is a hint of the type. */
  name: string;
  title: string | null;
  url: string | null;
  /** As declared by the caller. */
  mime: string | null;
  /** Null for a page, which is fetched. */
  bytes: Uint8Array | null;
  /** Hash of the above; null for a page. */
  sourceHash: Buffer | null;
}

/** Result of queuing a document. */
export interface QueuedIngest {
  documentId: string;
  /** Id of the queued ingest; null if the same content was read before. */
  ingestId: string | null;
  /** False if the same content was read before or is already queued, so that nothing changed. */
  isNew: boolean;
}

/** Time after which the sweeper announces a new ingest whose job was lost. */
export const INGEST_SWEEP_AFTER_MS = 2_000;

/** Bytes of one row of ingest_parts. */
const PART_BYTES = 4 * 1024 * 1024;

/** Priorities within a project. All but the first have to be fetched. */
export const INGEST_PRIORITY = { handedIn: 0, page: 1, ofSitemap: 2 } as const;

/** Locks the document with this key; creates it, without a text, if there is none. */
async function lockDocument(tx: Db, project: ProjectId, kbId: string, ingest: NewIngest): Promise<string> {
  await sql.lockDocument.run(tx, {
    ...ingest,
    id: newId(),
    project,
    kbId,
    title: withoutBidiControls(ingest.title ?? ingest.key),
    mime: ingest.mime ?? (ingest.kind === "page" ? "text/html" : "application/octet-stream"),
    sizeBytes: ingest.bytes?.byteLength ?? 0,
  });
  const row = await sql.lockByKey.one(tx, { kbId, key: ingest.key });
  if (row === null) throw new Error("the document disappeared while it was being queued");
  return row.id;
}

/** Queues one document, replacing what is queued for its key; its knowledge base is locked. */
export async function queueDocument(
  tx: Db,
  project: ProjectId,
  kbId: string,
  ingest: NewIngest,
): Promise<QueuedIngest> {
  const documentId = await lockDocument(tx, project, kbId, ingest);
  const waiting = await sql.queueDocument.one(tx, { ...ingest, documentId });
  if (waiting?.isSame === true) return { documentId, ingestId: waiting.id, isNew: false };
  if (waiting === null && ingest.sourceHash !== null) {
    const ready = await findBySource(tx, project, kbId, { key: ingest.key, hash: ingest.sourceHash });
    if (ready !== null) return { documentId, ingestId: null, isNew: false };
  }

  await sql.deleteIngests.run(tx, { documentId });
  const id = newId();
  await sql.insertIngest.run(tx, {
    ...ingest,
    id,
    project,
    kbId,
    documentId,
    sizeBytes: ingest.bytes?.byteLength ?? 0,
    priority: ingest.kind === "page" ? INGEST_PRIORITY.page : INGEST_PRIORITY.handedIn,
  });
  await insertParts(tx, id, ingest.bytes ?? new Uint8Array());
  return { documentId, ingestId: id, isNew: true };
}

async function insertParts(tx: Db, ingestId: string, bytes: Uint8Array): Promise<void> {
  for (let start = 0, ordinal = 0; start < bytes.byteLength; start += PART_BYTES, ordinal += 1) {
    const part = bytes.subarray(start, start + PART_BYTES);
    await sql.insertPart.run(tx, {
      ingestId,
      ordinal,
      bytes: Buffer.from(part.buffer, part.byteOffset, part.byteLength),
    });
  }
}

/** Retention of finished imports, in days. */
const IMPORT_KEPT_DAYS = 30;

/** Imports deleted per statement. */
const IMPORT_BATCH = 1_000;

interface ImportRow {
  id: string;
  kbId: string;
  url: string;
  maxPages: number;
  foundCount: number | null;
  doneCount: number;
  failedCount: number;
  error: string | null;
  createdAt: Date;
  updatedAt: Date;
  waitingCount: number;
}

const sql = statements("knowledge/ingest-queue", {
  unreadLanguage: UNREAD_LANGUAGE,
  ingestSweepAfterMs: INGEST_SWEEP_AFTER_MS,
  importKeptDays: IMPORT_KEPT_DAYS,
  importBatch: IMPORT_BATCH,
});

/** Removes old finished imports of all projects, in batches. Returns true if there may be more. */
export async function purgeImports(db: Db): Promise<boolean> {
  const count = await sql.purgeImports.run(db);
  return count === IMPORT_BATCH;
}

/** Returns the import with this id, of a knowledge base of this project, or null. */
export async function findImport(db: Db, project: ProjectId, kbId: string, id: string): Promise<ImportItem | null> {
  const row = await sql.findImport.one<ImportRow>(db, { project, kbId, id });
  return row === null ? null : asImport(row);
}

/** Removes a finished import from the list; its documents stay. Returns false if something of it waits. */
export async function deleteImport(db: Db, project: ProjectId, kbId: string, id: string): Promise<boolean> {
  return (await sql.deleteImport.run(db, { project, kbId, id })) > 0;
}

/** Imports of a knowledge base, newest first: those created before the one with id `before`. */
export async function listImports(
  db: Db,
  project: ProjectId,
  kbId: string,
  { limit, before, q }: PageQuery,
): Promise<ImportItem[]> {
  const rows = await sql.listImports.all<ImportRow>(db, { project, kbId, limit, before, q });
  return rows.map(asImport);
}

function asImport(row: ImportRow): ImportItem {
  const waiting = row.foundCount === null ? "queued" : "running";
  const found = row.foundCount;
  const status = row.error === null || found !== null ? "ready" : "failed";
  const { doneCount: done, failedCount: failed, waitingCount } = row;
  return {
    id: row.id,
    kbId: row.kbId,
    sitemap: row.url,
    maxPages: row.maxPages,
    status: waitingCount > 0 ? waiting : status,
    found,
    done,
    failed,
    skipped: found === null ? 0 : Math.max(found - done - failed - waitingCount, 0),
    error: row.error,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

import { withoutBidiControls } from "@svc/contracts";
import type { Db } from "../db.ts";
import { UNREAD_LANGUAGE, documentsTable } from "./documents.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** A document that is handed in, to be read later. */
export interface NewIngest {
  kind: "text" | "file" | "page";
  /** What its source calls it: the same key replaces the document. */
  key: string;
  /** File name or URL path; its ending is a hint of what it is. */
  name: string;
  title: string | null;
  url: string | null;
  /** As declared by whoever hands it in. */
  mime: string | null;
  /** Null for a page, which is fetched. */
  bytes: Uint8Array | null;
  /** Hash of all of this; null for a page. */
  sourceHash: Buffer | null;
}

/** What became of a document that was handed in. */
export interface QueuedIngest {
  documentId: string;
  /** What waits to be read now; null when the same was read before. */
  ingestId: string | null;
  /** False when the same was read before or waits already, so that nothing was done. */
  isNew: boolean;
}

/** How long the sweeper leaves what is new to its job. */
export const INGEST_SWEEP_AFTER_MS = 2_000;

/** Bytes of one row of ingest_parts. */
const PART_BYTES = 4 * 1024 * 1024;

/** What of a project is read first. Everything but the first has to be fetched. */
export const INGEST_PRIORITY = { handedIn: 0, page: 1, ofSitemap: 2 } as const;

/** The document of this key, locked; it is made, without a text, when there is none. */
async function lockDocument(tx: Db, project: ProjectId, kbId: string, ingest: NewIngest): Promise<string> {
  await tx.query(
    `INSERT INTO documents (id, project_id, kb_id, key, title, url, mime, size_bytes, content_hash, language, status)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', '${UNREAD_LANGUAGE}', 'queued') ON CONFLICT (kb_id, key) DO NOTHING`,
    [
      newId(),
      project,
      kbId,
      ingest.key,
      withoutBidiControls(ingest.title ?? ingest.key),
      ingest.url,
      ingest.mime ?? (ingest.kind === "page" ? "text/html" : "application/octet-stream"),
      ingest.bytes?.byteLength ?? 0,
    ],
  );
  const [row] = await tx.query<{ id: string }>(
    "SELECT id FROM documents WHERE kb_id = $1 AND key = $2 FOR NO KEY UPDATE",
    [kbId, ingest.key],
  );
  if (row === undefined) throw new Error("the document disappeared while it was being queued");
  return row.id;
}

/** Queues one document in place of what waits under its key; its knowledge base is held. */
export async function queueDocument(
  tx: Db,
  project: ProjectId,
  kbId: string,
  ingest: NewIngest,
): Promise<QueuedIngest> {
  const documentId = await lockDocument(tx, project, kbId, ingest);
  const [waiting] = await tx.query<{ id: string; is_same: boolean }>(
    `SELECT id, CASE WHEN source_hash IS NULL THEN kind = $2 AND url = $3 ELSE source_hash = $4 END AS is_same
     FROM ingests WHERE document_id = $1`,
    [documentId, ingest.kind, ingest.url, ingest.sourceHash],
  );
  if (waiting?.is_same === true) return { documentId, ingestId: waiting.id, isNew: false };
  if (waiting === undefined && ingest.sourceHash !== null) {
    const ready = await documentsTable(tx).findBySource(project, kbId, ingest.key, ingest.sourceHash);
    if (ready !== null) return { documentId, ingestId: null, isNew: false };
  }
  // What is newer takes the place of what waits; whoever works on that has lost its lease by it.
  await tx.query("DELETE FROM ingests WHERE document_id = $1", [documentId]);
  const id = newId();
  await tx.query(
    `INSERT INTO ingests (id, project_id, kb_id, kind, document_id, key, name, mime, title, url, source_hash,
       size_bytes, priority, due_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
       now() + interval '${INGEST_SWEEP_AFTER_MS} milliseconds')`,
    [
      id,
      project,
      kbId,
      ingest.kind,
      documentId,
      ingest.key,
      ingest.name,
      ingest.mime,
      ingest.title,
      ingest.url,
      ingest.sourceHash,
      ingest.bytes?.byteLength ?? 0,
      ingest.kind === "page" ? INGEST_PRIORITY.page : INGEST_PRIORITY.handedIn,
    ],
  );
  await insertParts(tx, id, ingest.bytes ?? new Uint8Array());
  return { documentId, ingestId: id, isNew: true };
}

async function insertParts(tx: Db, ingestId: string, bytes: Uint8Array): Promise<void> {
  for (let start = 0, ordinal = 0; start < bytes.byteLength; start += PART_BYTES, ordinal += 1) {
    const part = bytes.subarray(start, start + PART_BYTES);
    await tx.query("INSERT INTO ingest_parts (ingest_id, ordinal, bytes) VALUES ($1, $2, $3)", [
      ingestId,
      ordinal,
      Buffer.from(part.buffer, part.byteOffset, part.byteLength),
    ]);
  }
}

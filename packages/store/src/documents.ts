import { ServiceError } from "@svc/contracts";
import { chunksTable } from "./chunks.ts";
import type { NewChunk } from "./chunks.ts";
import type { Db } from "./db.ts";
import { newId } from "./ids.ts";
import type { ProjectId } from "./ids.ts";

/** What became of a document: it waits for its ingestion, can be found, or could not be read (`error` says why). */
export type DocumentStatus = "queued" | "ready" | "failed";

/** A document of a knowledge base; its text lies in its chunks. */
export interface KbDocument {
  id: string;
  kbId: string;
  /** What its source calls it: path, URL or a chosen name, unique in its knowledge base. */
  key: string;
  title: string;
  url: string | null;
  mime: string;
  sizeBytes: number;
  /** ISO 639-1. */
  language: string;
  status: DocumentStatus;
  error: string | null;
  chunkCount: number;
  updatedAt: Date;
}

/** A document as it is put into a knowledge base. */
export interface NewDocument {
  key: string;
  title: string;
  url: string | null;
  mime: string;
  sizeBytes: number;
  /** Hash of all that the chunks are made from: the same hash means that there is nothing to do. */
  contentHash: Buffer;
  language: string;
  /** Postgres's text search configuration of the language, as in `english`, or `simple`. */
  textSearchConfig: string;
}

/** What a put did. */
export interface PutDocument {
  documentId: string;
  status: "added" | "changed" | "unchanged";
  chunkCount: number;
}

interface DocumentRow {
  id: string;
  kb_id: string;
  key: string;
  title: string;
  url: string | null;
  mime: string;
  size_bytes: number;
  language: string;
  status: DocumentStatus;
  error: string | null;
  chunk_count: number;
  updated_at: Date;
}

const COLUMNS = "id, kb_id, key, title, url, mime, size_bytes, language, status, error, chunk_count, updated_at";

/** Documents of knowledge bases. */
export function documentsTable(db: Db) {
  async function findUnchanged(
    on: Db,
    project: ProjectId,
    kbId: string,
    document: Pick<NewDocument, "key" | "contentHash">,
  ): Promise<PutDocument | null> {
    const rows = await on.query<{ id: string; chunk_count: number }>(
      `SELECT id, chunk_count FROM documents
       WHERE project_id = $1 AND kb_id = $2 AND key = $3 AND content_hash = $4 AND status = 'ready'`,
      [project, kbId, document.key, document.contentHash],
    );
    const row = rows[0];
    return row === undefined ? null : { documentId: row.id, status: "unchanged", chunkCount: row.chunk_count };
  }

  return {
    /** Documents of a knowledge base by title. */
    async list(project: ProjectId, kbId: string): Promise<KbDocument[]> {
      const rows = await db.query<DocumentRow>(
        `SELECT ${COLUMNS} FROM documents WHERE project_id = $1 AND kb_id = $2 ORDER BY title, id`,
        [project, kbId],
      );
      return rows.map(asDocument);
    },

    /** The ready document of this key if it has this hash, so that it need not be cut again; else null. */
    findUnchanged: (
      project: ProjectId,
      kbId: string,
      document: Pick<NewDocument, "key" | "contentHash">,
    ): Promise<PutDocument | null> => findUnchanged(db, project, kbId, document),

    /**
     * Puts a document with its chunks into a knowledge base, in place of the one with the same key. One transaction:
     * a search sees the old document or the new one, never half of it. Throws `not_found` when this project has no
     * such knowledge base.
     */
    put(project: ProjectId, kbId: string, document: NewDocument, chunks: readonly NewChunk[]): Promise<PutDocument> {
      return db.transaction(async (tx) => {
        // Locks the knowledge base until the commit: writers to one base take turns, so that its counts and those of
        // its words are right and two writers cannot wait for each other. Searches are not held up.
        const kbs = await tx.query("SELECT id FROM kbs WHERE project_id = $1 AND id = $2 FOR NO KEY UPDATE", [
          project,
          kbId,
        ]);
        if (kbs.length === 0) throw new ServiceError("not_found", "There is no such knowledge base in this project.");
        const unchanged = await findUnchanged(tx, project, kbId, document);
        if (unchanged !== null) return unchanged;

        const id = newId();
        // A replaced document keeps its id, and with it the links to it.
        const rows = await tx.query<{ id: string }>(
          `INSERT INTO documents AS d (id, project_id, kb_id, key, title, url, mime, size_bytes, content_hash, language,
             status, chunk_count)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'ready', $11)
           ON CONFLICT (kb_id, key) DO UPDATE SET title = excluded.title, url = excluded.url, mime = excluded.mime,
             size_bytes = excluded.size_bytes, content_hash = excluded.content_hash, language = excluded.language,
             status = 'ready', error = NULL, chunk_count = excluded.chunk_count, updated_at = now()
           RETURNING id`,
          [
            id,
            project,
            kbId,
            document.key,
            document.title,
            document.url,
            document.mime,
            document.sizeBytes,
            document.contentHash,
            document.language,
            chunks.length,
          ],
        );
        const documentId = rows[0]?.id;
        if (documentId === undefined) throw new Error("the document was not put");
        const added = documentId === id;

        const removed = await chunksTable(tx).removeOfDocument(kbId, documentId);
        await chunksTable(tx).insert(
          project,
          { kbId, documentId, textSearchConfig: document.textSearchConfig },
          chunks,
        );
        const termCount = chunks.reduce((sum, chunk) => sum + chunk.termCount, 0);
        await tx.query(
          `UPDATE kbs SET document_count = document_count + $2, chunk_count = chunk_count + $3,
             term_total = term_total + $4, updated_at = now(),
             languages = CASE WHEN $5 = ANY (languages) THEN languages ELSE languages || $5::text END
           WHERE id = $1`,
          [kbId, added ? 1 : 0, chunks.length - removed.chunkCount, termCount - removed.termCount, document.language],
        );
        return { documentId, status: added ? "added" : "changed", chunkCount: chunks.length };
      });
    },
  };
}

function asDocument(row: DocumentRow): KbDocument {
  return {
    id: row.id,
    kbId: row.kb_id,
    key: row.key,
    title: row.title,
    url: row.url,
    mime: row.mime,
    sizeBytes: row.size_bytes,
    language: row.language,
    status: row.status,
    error: row.error,
    chunkCount: row.chunk_count,
    updatedAt: row.updated_at,
  };
}

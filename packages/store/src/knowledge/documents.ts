import { chunksTable } from "./chunks.ts";
import type { IndexedChunks } from "./chunks.ts";
import type { Db } from "../db.ts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import type { DocumentPostings } from "./postings.ts";
import { dropWaiting, indexAgain, putDocuments } from "./put-documents.ts";
import type { PreparedDocument } from "./put-documents.ts";

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

/** A document with what waits to be read for it: while anything does, `error` is why the last try to read it failed. */
export interface DocumentState extends Omit<KbDocument, "language"> {
  /** ISO 639-1; null until it was read for the first time. */
  language: string | null;
}

/** What a document was read from. */
export interface DocumentSource {
  /** Hash of all that was handed in. */
  hash: Buffer;
  mime: string;
  sizeBytes: number;
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

type DocumentStateRow = Omit<DocumentRow, "language"> & { language: string | null };

const COLUMNS = "id, kb_id, key, title, url, mime, size_bytes, language, status, error, chunk_count, updated_at";

/** The language of a document that was not read yet (ISO 639-2: undetermined). */
export const UNREAD_LANGUAGE = "und";

const HAS_SOURCE = "d.source_content_hash = d.content_hash";

// What is queued for a document shows before what it is; until then its old passages can be found.
const STATE = `d.id, d.kb_id, d.key, d.title, d.url, d.chunk_count, d.updated_at,
  CASE WHEN d.language = '${UNREAD_LANGUAGE}' THEN NULL ELSE d.language END AS language,
  CASE WHEN ${HAS_SOURCE} THEN d.source_mime ELSE d.mime END AS mime,
  CASE WHEN ${HAS_SOURCE} THEN d.source_size_bytes ELSE d.size_bytes END AS size_bytes,
  CASE WHEN i.id IS NULL THEN d.status ELSE 'queued' END AS status,
  CASE WHEN i.id IS NULL THEN d.error ELSE i.failure END AS error`;
const WITH_INGEST = "documents d LEFT JOIN ingests i ON i.document_id = d.id";

/** A document whose postings are to be made anew. */
export interface OutdatedDocument {
  id: string;
  project: ProjectId;
  kbId: string;
  title: string;
  /** ISO 639-1. */
  language: string;
  chunkCount: number;
  indexVersion: number;
}

/** Documents of knowledge bases. */
export function documentsTable(db: Db) {
  const { stem } = chunksTable(db);

  function post(config: string, indexed: IndexedChunks): Promise<DocumentPostings> {
    return indexed.post(async (words) => {
      const stems = await stem(config, words);
      return words.map((word) => stems.get(word) ?? word);
    });
  }

  async function prepare(document: NewDocument, indexed: IndexedChunks): Promise<PreparedDocument> {
    return { document, indexed, postings: await post(document.textSearchConfig, indexed) };
  }

  async function putAll(
    project: ProjectId,
    kbId: string,
    documents: readonly { document: NewDocument; indexed: IndexedChunks }[],
  ): Promise<PutDocument[]> {
    // Outside the transaction, since whoever puts into the same base waits for its end.
    const items: PreparedDocument[] = [];
    for (const { document, indexed } of documents) items.push(await prepare(document, indexed));
    return db.transaction((tx) => putDocuments(tx, project, kbId, items));
  }

  async function putPrepared(project: ProjectId, kbId: string, item: PreparedDocument): Promise<PutDocument> {
    const [put] = await db.transaction((tx) => putDocuments(tx, project, kbId, [item]));
    if (put === undefined) throw new Error("the document was not stored");
    return put;
  }

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

    /** A document of a knowledge base of this project, or null. */
    async find(project: ProjectId, kbId: string, id: string): Promise<DocumentState | null> {
      const rows = await db.query<DocumentStateRow>(
        `SELECT ${STATE} FROM ${WITH_INGEST} WHERE d.project_id = $1 AND d.kb_id = $2 AND d.id = $3`,
        [project, kbId, id],
      );
      const row = rows[0];
      return row === undefined ? null : asState(row);
    },

    /**
     * Documents of a knowledge base, newest first: those made before the one with the id `before`, with `q` in title or
     * key, and of one status.
     */
    async listPage(
      project: ProjectId,
      kbId: string,
      options: {
        limit: number;
        before?: string | undefined;
        q?: string | undefined;
        status?: DocumentStatus | undefined;
      },
    ): Promise<DocumentState[]> {
      const rows = await db.query<DocumentStateRow>(
        `SELECT ${STATE} FROM ${WITH_INGEST}
         WHERE d.project_id = $1 AND d.kb_id = $2 AND ($4::uuid IS NULL OR d.id < $4)
           AND ($5::text IS NULL OR strpos(lower(d.title), lower($5)) > 0 OR strpos(lower(d.key), lower($5)) > 0)
           AND ($6::text IS NULL OR $6 = CASE WHEN i.id IS NULL THEN d.status ELSE 'queued' END)
         ORDER BY d.id DESC LIMIT $3`,
        [project, kbId, options.limit, options.before ?? null, options.q ?? null, options.status ?? null],
      );
      return rows.map(asState);
    },

    /** The ready document of this key if it was read from a source with this hash, else null. */
    async findBySource(project: ProjectId, kbId: string, key: string, hash: Buffer): Promise<PutDocument | null> {
      const rows = await db.query<{ id: string; chunk_count: number }>(
        `SELECT d.id, d.chunk_count FROM documents d
         WHERE d.project_id = $1 AND d.kb_id = $2 AND d.key = $3 AND d.source_hash = $4 AND ${HAS_SOURCE}
           AND d.status = 'ready'`,
        [project, kbId, key, hash],
      );
      const row = rows[0];
      return row === undefined ? null : { documentId: row.id, status: "unchanged", chunkCount: row.chunk_count };
    },

    /**
     * Notes what the text with this hash was read from; it holds until another text is put. Does nothing when the
     * document has another text by now.
     */
    async noteSource(project: ProjectId, id: string, contentHash: Buffer, source: DocumentSource): Promise<void> {
      await db.query(
        `UPDATE documents SET source_content_hash = content_hash, source_hash = $4, source_mime = $5,
           source_size_bytes = $6
         WHERE project_id = $1 AND id = $2 AND content_hash = $3`,
        [project, id, contentHash, source.hash, source.mime, source.sizeBytes],
      );
    },

    /** Drops what waits to be read for a document, because what it has now is newer. */
    dropWaiting: (project: ProjectId, id: string): Promise<void> =>
      db.transaction((tx) => dropWaiting(tx, project, [id])),

    /**
     * Removes a document with its passages and what waits to be read for it. One transaction: a search finds all of it
     * or nothing. False when the knowledge base has none of this id.
     */
    remove(project: ProjectId, kbId: string, id: string): Promise<boolean> {
      return db.transaction(async (tx) => {
        // As in `put`: whoever changes documents of one base takes turns.
        await tx.query("SELECT id FROM kbs WHERE project_id = $1 AND id = $2 FOR NO KEY UPDATE", [project, kbId]);
        const [document] = await tx.query<{ was_read: boolean }>(
          `SELECT content_hash <> '' AS was_read FROM documents WHERE project_id = $1 AND kb_id = $2 AND id = $3
           FOR UPDATE`,
          [project, kbId, id],
        );
        if (document === undefined) return false;
        const removed = await chunksTable(tx).removeOfDocument(kbId, id);
        await tx.query("DELETE FROM documents WHERE id = $1", [id]);
        await tx.query(
          `UPDATE kbs SET document_count = greatest(document_count - $2, 0), chunk_count = chunk_count - $3,
             term_total = term_total - $4, updated_at = now()
           WHERE id = $1`,
          [kbId, document.was_read ? 1 : 0, removed.chunkCount, removed.termCount],
        );
        return true;
      });
    },

    /** The ready document of this key if it has this hash, so that it need not be cut again; else null. */
    findUnchanged: (
      project: ProjectId,
      kbId: string,
      document: Pick<NewDocument, "key" | "contentHash">,
    ): Promise<PutDocument | null> => findUnchanged(db, project, kbId, document),

    /**
     * Puts a document with its chunks into a knowledge base, in place of the one with the same key and of what waits to
     * be read for it. One transaction: a search sees the old document or the new one, never half of it. Throws `not_found` when this project has no
     * such knowledge base.
     */
    async put(project: ProjectId, kbId: string, document: NewDocument, indexed: IndexedChunks): Promise<PutDocument> {
      return putPrepared(project, kbId, await prepare(document, indexed));
    },

    /** Makes ready what takes long, stems and postings, so that a transaction need not wait for it. */
    prepare,

    /** As `put` for a document that `prepare` has made ready. */
    putPrepared,

    /** As `put` for documents of different keys at once, all in one transaction. */
    putAll,

    /** As `findUnchanged` for many documents at once: of each, or null. */
    async findAllUnchanged(
      project: ProjectId,
      kbId: string,
      documents: readonly Pick<NewDocument, "key" | "contentHash">[],
    ): Promise<(PutDocument | null)[]> {
      const rows = await db.query<{ place: number; id: string; chunk_count: number }>(
        `SELECT i.place::integer, d.id, d.chunk_count
         FROM unnest($3::text[], $4::bytea[]) WITH ORDINALITY AS i (key, content_hash, place)
         JOIN documents d ON d.project_id = $1 AND d.kb_id = $2 AND d.key = i.key
           AND d.content_hash = i.content_hash AND d.status = 'ready'`,
        [project, kbId, documents.map(({ key }) => key), documents.map(({ contentHash }) => contentHash)],
      );
      const byPlace = new Map(rows.map((row) => [row.place - 1, row]));
      return documents.map((_, place) => {
        const row = byPlace.get(place);
        return row === undefined ? null : { documentId: row.id, status: "unchanged", chunkCount: row.chunk_count };
      });
    },

    /**
     * Documents of all projects whose postings were made in an older way than `version`, in one order, those after
     * `after` if that is given.
     */
    async findOutdated(version: number, limit: number, after: OutdatedDocument | null): Promise<OutdatedDocument[]> {
      const rows = await db.query<{
        id: string;
        project_id: string;
        kb_id: string;
        title: string;
        language: string;
        chunk_count: number;
        index_version: number;
      }>(
        `SELECT d.id, d.project_id, d.kb_id, d.title, d.language, d.chunk_count, d.index_version
         FROM documents d JOIN kbs k ON k.id = d.kb_id AND k.deleted_at IS NULL
         WHERE d.index_version < $1 AND d.chunk_count > 0
           AND ($3::smallint IS NULL OR (d.index_version, d.id) > ($3, $4::uuid))
         ORDER BY d.index_version, d.id LIMIT $2`,
        [version, limit, after?.indexVersion ?? null, after?.id ?? null],
      );
      return rows.map((row) => ({
        id: row.id,
        project: asProjectId(row.project_id),
        kbId: row.kb_id,
        title: row.title,
        language: row.language,
        chunkCount: row.chunk_count,
        indexVersion: row.index_version,
      }));
    },

    /**
     * Makes the postings of documents of one knowledge base anew, from their passages as they were read; one that has
     * changed meanwhile is left out. One transaction; answers how many were indexed.
     */
    async indexAgain(
      project: ProjectId,
      kbId: string,
      items: readonly { id: string; textSearchConfig: string; indexed: IndexedChunks }[],
    ): Promise<number> {
      const ready = await Promise.all(
        items.map(async (item) => ({ ...item, postings: await post(item.textSearchConfig, item.indexed) })),
      );
      return db.transaction((tx) => indexAgain(tx, project, kbId, ready));
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

function asState(row: DocumentStateRow): DocumentState {
  return { ...asDocument({ ...row, language: "" }), language: row.language };
}

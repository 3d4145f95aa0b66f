import { KB_LIMITS, ServiceError } from "@svc/contracts";
import type { Db } from "../db.ts";
import { expiredLease, lapseWait, leaseHistory } from "../messages/expired-leases.ts";
import type { LeaseHistory } from "../messages/expired-leases.ts";
import { UNREAD_LANGUAGE, documentsTable } from "./documents.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { holdKb } from "./kbs.ts";
import { INGEST_PRIORITY, INGEST_SWEEP_AFTER_MS, queueDocument } from "./queue-document.ts";
import type { NewIngest, QueuedIngest } from "./queue-document.ts";
import type { StoredBytes } from "../platform/stored-bytes.ts";

/** What is read: a text or a file that was handed in, a page to fetch, or a sitemap whose pages become documents. */
export type IngestKind = "text" | "file" | "page" | "sitemap";

/** Something to read that a worker has a lease for. */
export interface ClaimedIngest extends LeaseHistory {
  project: ProjectId;
  id: string;
  leaseId: string;
  kbId: string;
  kind: IngestKind;
  /** Null for a sitemap. */
  documentId: string | null;
  importId: string | null;
  key: string;
  name: string;
  mime: string | null;
  title: string | null;
  url: string | null;
  sourceHash: Buffer | null;
  sizeBytes: number;
  /** Number of attempts, this one included. An attempt whose lease expired is not counted. */
  attempts: number;
  /** Pages that are read of it; only a sitemap has them. */
  maxPages: number | null;
}

/** What has to be announced. */
export interface DueIngest {
  project: ProjectId;
  ingestId: string;
  attempts: number;
}

/** Which of what waits a claim may take; all of it by default. */
export interface IngestFilter {
  /** Texts and files that were handed in with their bytes. */
  canRead?: boolean;
  /** Pages and sitemaps that have to be fetched. */
  canFetch?: boolean;
  /** Most bytes of a text or file. */
  maxBytes?: number;
  /** Projects whose pages and sitemaps are left to others. */
  fetchingFor?: readonly string[];
}

/** What a worker may do with documents in the transaction that ends its work. */
export type DocumentPutter = Pick<
  ReturnType<typeof documentsTable>,
  "findUnchanged" | "putPrepared" | "findBySource" | "noteSource"
>;

/** How long a worker's lease lasts without being renewed. */
export const INGEST_LEASE_MS = 10_000;

/** Pages that one statement queues. */
const PAGE_BATCH = 1_000;

/** Largest value of an integer column. */
const MAX_INTEGER = 2_147_483_647;

/** Comes before every project. */
const NO_PROJECT = "00000000-0000-0000-0000-000000000000";

interface ClaimedRow extends LeaseHistory {
  id: string;
  project_id: string;
  lease_id: string;
  kb_id: string;
  kind: IngestKind;
  document_id: string | null;
  import_id: string | null;
  key: string;
  name: string;
  mime: string | null;
  title: string | null;
  url: string | null;
  source_hash: Buffer | null;
  size_bytes: number;
  attempts: number;
  max_pages: number | null;
}

/**
 * What waits to be read into knowledge bases: accepted in one transaction with its bytes, claimed by a lease, ended in
 * one transaction with the document that it became. Every transaction here locks in the order knowledge base, document,
 * ingest, import, so that no two wait for each other.
 */
export function ingestsTable(db: Db, leases: Db, processId: string, storedBytes: StoredBytes) {
  // After many lapses, the next attempt waits.
  const LAPSE_WAIT = `(${lapseWait("(coalesce(jsonb_array_length(i.expired_leases), 0) + 1)")})`;

  // Projects take turns: "ring" goes from the one that was served last to the next one that has anything, and from the
  // last one of all to the first (lap 2), by one look into the index each; it is followed only as far as something is
  // found. The row is locked and taken in one statement; SKIP LOCKED lets two workers take two. Those of a knowledge base
  // that was deleted are left to its removal; asked for each, since a join might sort all that waits.
  const CLAIM = `
    WITH RECURSIVE ring (project_id, lap) AS (
      SELECT $3::uuid, 0
      UNION ALL
      SELECT step.project_id, step.lap FROM ring CROSS JOIN LATERAL (
        (SELECT i.project_id, greatest(ring.lap, 1) AS lap FROM ingests i
         WHERE i.project_id > ring.project_id ORDER BY i.project_id LIMIT 1)
        UNION ALL
        (SELECT i.project_id, 2 FROM ingests i WHERE ring.lap < 2 ORDER BY i.project_id LIMIT 1)
        LIMIT 1
      ) AS step WHERE step.lap = 1 OR step.project_id <= $3
    ), next AS (
      SELECT first.id FROM ring CROSS JOIN LATERAL (
        SELECT i.id FROM ingests i
        WHERE i.project_id = ring.project_id AND i.priority BETWEEN $2 AND $4 AND i.next_at <= now()
          AND i.size_bytes <= $5
          AND (i.priority = ${INGEST_PRIORITY.handedIn} OR i.project_id <> ALL ($6::uuid[]))
          AND (i.lease_until IS NULL OR i.lease_until + ${LAPSE_WAIT} < now())
          AND (SELECT k.deleted_at FROM kbs k WHERE k.id = i.kb_id) IS NULL
        ORDER BY i.priority, i.next_at, i.id LIMIT 1 FOR UPDATE OF i SKIP LOCKED
      ) AS first WHERE ring.lap > 0 LIMIT 1
    ), claimed AS (
      UPDATE ingests i SET lease_id = $1, lease_until = now() + interval '${INGEST_LEASE_MS} milliseconds',
        lease_holder = $7::uuid,
        attempts = greatest(1, i.attempts + CASE WHEN i.lease_id IS NULL THEN 1 ELSE 0 END),
        expired_leases = coalesce(i.expired_leases || ${expiredLease("i")}, i.expired_leases, ${expiredLease("i")})
      FROM next WHERE i.id = next.id
      RETURNING i.id, i.project_id, i.lease_id, i.kb_id, i.kind, i.document_id, i.import_id, i.key, i.name, i.mime,
        i.title, i.url, i.source_hash, i.size_bytes, i.attempts, i.expired_leases,
        (SELECT max_pages FROM imports m WHERE m.id = i.import_id AND i.kind = 'sitemap') AS max_pages
    )
    SELECT claimed.*, s.crashes, s.lapses FROM claimed CROSS JOIN LATERAL (${leaseHistory("claimed.expired_leases")}) s`;

  const RENEW = `
    UPDATE ingests SET lease_until = now() + interval '${INGEST_LEASE_MS} milliseconds'
    WHERE id = $1 AND lease_id = $2 RETURNING 1`;

  // The project that was served last, for each kind of claim: if they shared one, the kind that takes turns fast would decide for
  // the others who is next.
  const lastServed = new Map<string, string>();

  // Each is put off by its own age, between 2 s and a minute; workers go on by themselves from one to the next, so a few
  // announcements are enough to have any number read.
  const DUE = `
    WITH due AS (
      SELECT id FROM ingests
      WHERE due_at <= now() AND next_at <= now() AND (lease_until IS NULL OR lease_until < now())
      ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
    )
    UPDATE ingests i SET due_at = now() + least(interval '1 minute', greatest(interval '2 seconds', now() - i.created_at))
    FROM due WHERE i.id = due.id RETURNING i.id, i.project_id,
      i.attempts + coalesce(jsonb_array_length(i.expired_leases), 0) + (i.lease_id IS NOT NULL)::integer AS attempts`;

  async function insertImportRow(tx: Db, project: ProjectId, kbId: string, url: string, maxPages: number) {
    const id = newId();
    await tx.query("INSERT INTO imports (id, project_id, kb_id, url, max_pages) VALUES ($1, $2, $3, $4, $5)", [
      id,
      project,
      kbId,
      url,
      maxPages,
    ]);
    return id;
  }

  /** Refuses what would make too much wait. What is accepted in the same moment elsewhere is not seen. */
  async function checkRoom(tx: Db, project: ProjectId, added: { count: number; bytes: number }): Promise<void> {
    const [waiting] = await tx.query<{ count: number; bytes: number }>(
      "SELECT count(*) AS count, coalesce(sum(size_bytes), 0)::float8 AS bytes FROM ingests WHERE project_id = $1",
      [project],
    );
    const { count = 0, bytes = 0 } = waiting ?? {};
    const { queuedMaxBytes, queuedMaxCount } = KB_LIMITS;
    if (bytes + added.bytes <= queuedMaxBytes && count + added.count <= queuedMaxCount) return;
    throw new ServiceError(
      "rate_limited",
      `This project already has ${count} documents (${Math.round(bytes / 1024 / 1024)} MB) waiting to be processed; the maximum is ${queuedMaxCount} documents (${queuedMaxBytes / 1024 / 1024} MB). Add more when some of them are ready.`,
      { headers: { "Retry-After": "60" } },
    );
  }

  /**
   * Runs `work` in the transaction that ends an ingest, with the knowledge base and the document locked, and only when
   * the lease is still held; false when it is not, or when base or document was deleted.
   */
  function endUnderLease(claim: ClaimedIngest, work: (tx: Db) => Promise<void>): Promise<boolean> {
    return db.transaction(async (tx) => {
      const kbs = await tx.query(
        "SELECT id FROM kbs WHERE project_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE",
        [claim.project, claim.kbId],
      );
      if (kbs.length === 0) return false;
      if (claim.documentId !== null) {
        await tx.query("SELECT id FROM documents WHERE id = $1 FOR NO KEY UPDATE", [claim.documentId]);
      }
      const held = await tx.query(
        "DELETE FROM ingests WHERE id = $1 AND project_id = $2 AND lease_id = $3 RETURNING id",
        [claim.id, claim.project, claim.leaseId],
      );
      if (held.length === 0) return false;
      await work(tx);
      return true;
    });
  }

  async function countInImport(tx: Db, importId: string | null, column: "done_count" | "failed_count"): Promise<void> {
    if (importId === null) return;
    await tx.query(`UPDATE imports SET ${column} = ${column} + 1, updated_at = now() WHERE id = $1`, [importId]);
  }

  /** Queues pages of an import that do not wait already, as documents. Answers how many. */
  async function queuePages(tx: Db, claim: ClaimedIngest, urls: readonly string[]): Promise<number> {
    // Two imports take turns by the lock on the knowledge base. Whoever hands in documents does not wait for that, and
    // locks them in this order of keys too.
    const keys = [...new Set(urls)].sort();
    await tx.query(
      `INSERT INTO documents (id, project_id, kb_id, key, title, url, mime, size_bytes, content_hash, language, status)
       SELECT i.id, $1, $2, i.key, i.key, i.key, 'text/html', 0, '', '${UNREAD_LANGUAGE}', 'queued'
       FROM unnest($3::uuid[], $4::text[]) AS i (id, key) ON CONFLICT (kb_id, key) DO NOTHING`,
      [claim.project, claim.kbId, keys.map(() => newId()), keys],
    );
    // By place, since the database may sort words in another way.
    await tx.query(
      `SELECT d.id FROM unnest($2::text[]) WITH ORDINALITY AS i (key, place)
       JOIN documents d ON d.kb_id = $1 AND d.key = i.key ORDER BY i.place FOR NO KEY UPDATE OF d`,
      [claim.kbId, keys],
    );
    const rows = await tx.query(
      `INSERT INTO ingests AS w (id, project_id, kb_id, kind, document_id, import_id, key, name, url, priority, due_at)
       SELECT i.id, $1, $2, 'page', d.id, $5, d.key, d.key, d.key, ${INGEST_PRIORITY.ofSitemap},
         now() + interval '${INGEST_SWEEP_AFTER_MS} milliseconds'
       FROM unnest($3::uuid[], $4::text[]) AS i (id, key) JOIN documents d ON d.kb_id = $2 AND d.key = i.key
       ON CONFLICT (document_id) DO UPDATE SET import_id = excluded.import_id WHERE w.kind = 'page'
       RETURNING w.id`,
      [claim.project, claim.kbId, keys.map(() => newId()), keys, claim.importId],
    );
    return rows.length;
  }

  return {
    /**
     * Accepts documents with their bytes, all or none, in one transaction: when this resolves they are on disk. One that
     * was handed in before, and was read or waits, is left as it is. Throws not_found for a knowledge base that this
     * project does not have, rate_limited when too much waits, storage_full when there is no room for them.
     */
    async queueDocuments(project: ProjectId, kbId: string, ingests: readonly NewIngest[]): Promise<QueuedIngest[]> {
      const bytes = ingests.reduce((sum, ingest) => sum + (ingest.bytes?.byteLength ?? 0), 0);
      await storedBytes.checkRoom(project, "documents", bytes);
      return db.transaction(async (tx) => {
        await holdKb(tx, project, kbId);
        await checkRoom(tx, project, { count: ingests.length, bytes });
        // In one order of keys, so that two calls with the same documents cannot wait for each other.
        const order = [...ingests.keys()].sort((a, b) => ((ingests[a]?.key ?? "") < (ingests[b]?.key ?? "") ? -1 : 1));
        const queued = new Map<number, QueuedIngest>();
        for (const index of order) {
          const ingest = ingests[index];
          if (ingest !== undefined) queued.set(index, await queueDocument(tx, project, kbId, ingest));
        }
        return ingests.flatMap((_, index) => queued.get(index) ?? []);
      });
    },

    /** Accepts a sitemap. Throws as `queueDocuments`. */
    queueSitemap(
      project: ProjectId,
      kbId: string,
      sitemap: { url: string; maxPages: number },
    ): Promise<{ importId: string; ingestId: string }> {
      return db.transaction(async (tx) => {
        await holdKb(tx, project, kbId);
        await checkRoom(tx, project, { count: 1, bytes: 0 });
        const importId = await insertImportRow(tx, project, kbId, sitemap.url, sitemap.maxPages);
        const ingestId = newId();
        await tx.query(
          `INSERT INTO ingests (id, project_id, kb_id, kind, import_id, key, name, url, priority, due_at)
           VALUES ($1, $2, $3, 'sitemap', $4, '', '', $5, ${INGEST_PRIORITY.ofSitemap},
             now() + interval '${INGEST_SWEEP_AFTER_MS} milliseconds')`,
          [ingestId, project, kbId, importId, sitemap.url],
        );
        return { importId, ingestId };
      });
    },

    /**
     * Claims the lease on what is to be read next, and counts the attempt, unless the lease of the one before expired; null
     * when nothing waits. Projects take turns, however much waits of each; within one, what was handed in with its bytes
     * goes before single pages, and these before sitemaps, each the oldest first.
     */
    async claim({
      canRead = true,
      canFetch = true,
      maxBytes = MAX_INTEGER,
      fetchingFor = [],
    }: IngestFilter = {}): Promise<ClaimedIngest | null> {
      const turn = `${canRead} ${canFetch} ${maxBytes}`;
      const [row] = await leases.prepared<ClaimedRow>("ingests_claim", CLAIM, [
        newId(),
        canRead ? INGEST_PRIORITY.handedIn : INGEST_PRIORITY.page,
        lastServed.get(turn) ?? NO_PROJECT,
        canFetch ? INGEST_PRIORITY.ofSitemap : INGEST_PRIORITY.handedIn,
        maxBytes,
        fetchingFor,
        processId,
      ]);
      if (row === undefined) return null;
      lastServed.set(turn, row.project_id);
      return asClaimed(row);
    },

    /** Extends leases; answers the ids of those that are still held. */
    async renewLeases(claims: readonly ClaimedIngest[]): Promise<Set<string>> {
      const held = new Set<string>();
      // One by one: a statement that locked several could wait for whoever hands in the same documents, who waits for it.
      for (const { id, leaseId } of claims) {
        if ((await leases.prepared("ingests_renew", RENEW, [id, leaseId])).length > 0) held.add(leaseId);
      }
      return held;
    },

    /** The bytes that were handed in, read piece by piece; null when it is gone, or another took its place. */
    async readBytes({ id, project, sizeBytes }: ClaimedIngest): Promise<Buffer | null> {
      const bytes = Buffer.allocUnsafe(sizeBytes);
      let filled = 0;
      for (let ordinal = 0; filled < sizeBytes; ordinal += 1) {
        const [part] = await db.query<{ bytes: Buffer }>(
          `SELECT p.bytes FROM ingest_parts p JOIN ingests i ON i.id = p.ingest_id
           WHERE p.ingest_id = $1 AND p.ordinal = $2 AND i.project_id = $3`,
          [id, ordinal, project],
        );
        if (part === undefined) return null;
        filled += part.bytes.copy(bytes, filled);
      }
      return bytes;
    },

    /**
     * Ends an ingest with the document that it became: `put` works with documents in that same transaction, so that the
     * new passages, the end of the ingest and the counts become real together, exactly once. False, and nothing done,
     * when the lease was lost: the document was deleted, or something newer was handed in for it, or another worker has
     * it.
     */
    finish(claim: ClaimedIngest, put: (documents: DocumentPutter) => Promise<void>): Promise<boolean> {
      return endUnderLease(claim, async (tx) => {
        await put(documentsTable(tx));
        await countInImport(tx, claim.importId, "done_count");
      });
    },

    /**
     * Ends an ingest whose document cannot be read, with the reason in words. Passages that were read before stay. False
     * as in `finish`.
     */
    fail(claim: ClaimedIngest, error: string): Promise<boolean> {
      return endUnderLease(claim, async (tx) => {
        if (claim.documentId === null) {
          await tx.query("UPDATE imports SET error = $2, updated_at = now() WHERE id = $1", [claim.importId, error]);
          return;
        }
        await tx.query("UPDATE documents SET status = 'failed', error = $2, updated_at = now() WHERE id = $1", [
          claim.documentId,
          error,
        ]);
        await countInImport(tx, claim.importId, "failed_count");
      });
    },

    /**
     * Ends the reading of a sitemap: its pages wait to be read from then on. Those that wait already are not doubled.
     * False as in `finish`. Throws rate_limited when too much would wait.
     */
    finishSitemap(claim: ClaimedIngest, pages: readonly string[]): Promise<boolean> {
      return endUnderLease(claim, async (tx) => {
        await checkRoom(tx, claim.project, { count: pages.length, bytes: 0 });
        let found = 0;
        for (let start = 0; start < pages.length; start += PAGE_BATCH) {
          found += await queuePages(tx, claim, pages.slice(start, start + PAGE_BATCH));
        }
        await tx.query("UPDATE imports SET found_count = $2, updated_at = now() WHERE id = $1", [
          claim.importId,
          found,
        ]);
      });
    },

    /**
     * Releases a lease: the next attempt follows after `delayMs`, and this one does not count unless `counts`. Does nothing
     * if the lease was lost.
     */
    async retryLater(
      { id, leaseId }: ClaimedIngest,
      { delayMs, failure, counts }: { delayMs: number; failure: string | null; counts: boolean },
    ): Promise<void> {
      await db.query(
        `UPDATE ingests SET lease_id = NULL, lease_until = NULL, failure = coalesce($3, failure),
           attempts = greatest(attempts - $4, 0), next_at = now() + $5 * interval '1 millisecond',
           due_at = now() + $5 * interval '1 millisecond'
         WHERE id = $1 AND lease_id = $2`,
        [id, leaseId, failure, counts ? 0 : 1, Math.round(delayMs)],
      );
    },

    /** Of all projects, up to `limit` that are due and that nobody has, for the sweeper to publish. */
    async takeDue(limit: number): Promise<DueIngest[]> {
      const rows = await db.query<{ id: string; project_id: string; attempts: number }>(DUE, [limit]);
      return rows.map((row) => ({
        project: asProjectId(row.project_id),
        ingestId: row.id,
        attempts: row.attempts,
      }));
    },
  };
}

function asClaimed(row: ClaimedRow): ClaimedIngest {
  return {
    project: asProjectId(row.project_id),
    id: row.id,
    leaseId: row.lease_id,
    kbId: row.kb_id,
    kind: row.kind,
    documentId: row.document_id,
    importId: row.import_id,
    key: row.key,
    name: row.name,
    mime: row.mime,
    title: row.title,
    url: row.url,
    sourceHash: row.source_hash,
    sizeBytes: row.size_bytes,
    attempts: row.attempts,
    crashes: row.crashes,
    lapses: row.lapses,
    maxPages: row.max_pages,
  };
}

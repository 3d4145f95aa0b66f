import { KB_LIMITS, ServiceError } from "@svc/contracts";
import type { Db } from "../db.ts";
import { expiredLease, lapseWait, leaseHistory } from "../messages/chats.ts";
import type { LeaseHistory } from "../messages/chats.ts";
import { UNREAD_LANGUAGE, documents } from "./documents.ts";
import { holdKb } from "./kbs.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { INGEST_PRIORITY, INGEST_SWEEP_AFTER_MS, queueDocument } from "./ingest-queue.ts";
import type { NewIngest, QueuedIngest } from "./ingest-queue.ts";
import { checkDocuments } from "../platform/quotas.ts";
import { statements } from "../sql.ts";
import { bind, stateOf } from "../context.ts";
import type { Bound, Context } from "../context.ts";

/** Kind of an ingest: a submitted text or file, a page to fetch, or a sitemap whose pages become documents. */
export type IngestKind = "text" | "file" | "page" | "sitemap";

/** An ingest that a worker has claimed. */
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
  /** Maximum of pages to read; for sitemaps only. */
  maxPages: number | null;
}

/** An ingest that has to be announced. */
export interface DueIngest {
  project: ProjectId;
  ingestId: string;
  attempts: number;
}

/** Filter of claims; everything by default. */
export interface IngestFilter {
  /** Texts and files whose bytes are stored. */
  canRead?: boolean;
  /** Pages and sitemaps that have to be fetched. */
  canFetch?: boolean;
  /** Maximum size of a text or file. */
  maxBytes?: number;
  /** Projects whose pages and sitemaps are excluded. */
  fetchingFor?: readonly string[];
}

/** Functions on documents in the transaction that finishes an ingest. */
export type DocumentPutter = Pick<
  Bound<Db, typeof documents>,
  "findUnchanged" | "putPrepared" | "findBySource" | "recordSource"
>;

/** Duration of a worker's lease without renewal. */
export const INGEST_LEASE_MS = 10_000;

/** Pages that one statement queues. */
const PAGE_BATCH = 1_000;

/** Largest value of an integer column. */
const MAX_INTEGER = 2_147_483_647;

/** Sorts before every project. */
const NO_PROJECT = "00000000-0000-0000-0000-000000000000";

const sql = statements("knowledge/ingests", {
  unreadLanguage: UNREAD_LANGUAGE,
  ingestPriorityOfSitemap: INGEST_PRIORITY.ofSitemap,
  ingestSweepAfterMs: INGEST_SWEEP_AFTER_MS,
  ingestPriorityHandedIn: INGEST_PRIORITY.handedIn,
  lapseWait: lapseWait("(coalesce(jsonb_array_length(i.expired_leases), 0) + 1)"),
  ingestLeaseMs: INGEST_LEASE_MS,
  expiredLease: expiredLease("i"),
  leaseHistory: leaseHistory("claimed.expired_leases"),
});

/**
 * Queue of content to read into knowledge bases: accepted in one transaction with its bytes, claimed with a lease,
 * finished in one transaction with its document. Every transaction here locks in the order knowledge base, document,
 * ingest, import, to avoid deadlocks.
 */
/**
 * The project that was served last, for each kind of claim: if they shared one, the kind with shorter jobs would
 * determine the order of the others.
 */
const lastServedOf = stateOf((_context: Context) => new Map<string, string>());

/** Throws if the queue would exceed its limits. Concurrent transactions are not counted. */
async function checkRoom(tx: Db, project: ProjectId, added: { count: number; bytes: number }): Promise<void> {
  const waiting = await sql.sumQueued.one(tx, { project });
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
 * Runs `work` in the transaction that finishes an ingest, with the knowledge base and the document locked, if the lease
 * is still held. Returns false if it is not, or if the base or document was deleted.
 */
function endUnderLease(context: Context, claim: ClaimedIngest, work: (tx: Db) => Promise<void>): Promise<boolean> {
  return context.db.transaction(async (tx) => {
    const locked = await sql.lockKb.run(tx, claim);
    if (locked === 0) return false;
    if (claim.documentId !== null) {
      await sql.lockDocument.run(tx, { documentId: claim.documentId });
    }
    if (!(await sql.deleteOwned.any(tx, claim))) return false;
    await work(tx);
    return true;
  });
}

async function countInImport(tx: Db, id: string | null, counts: { done: number; failed: number }): Promise<void> {
  if (id !== null) await sql.countInImport.run(tx, { id, ...counts });
}

/** Queues pages of an import that are not queued yet, as documents. Returns how many. */
async function queuePages(tx: Db, claim: ClaimedIngest, urls: readonly string[]): Promise<number> {
  // The lock on the knowledge base serializes imports. Submitted documents do not wait for it, and lock in this order
  // of keys too.
  const keys = [...new Set(urls)].sort();
  await sql.insertDocuments.run(tx, { ...claim, id: keys.map(() => newId()), key: keys });
  await checkDocuments(tx, claim.project);
  await sql.lockDocuments.run(tx, { kbId: claim.kbId, key: keys });
  return sql.insertPages.run(tx, { ...claim, id: keys.map(() => newId()), key: keys });
}

/**
 * Accepts documents with their bytes, all or none, in one transaction: when this resolves they are on disk. A document
 * that was submitted before, and was read or is queued, is unchanged. Throws not_found for a knowledge base that this
 * project does not have, rate_limited if too much is queued, storage_full and storage_quota_exceeded if there is no
 * room for them.
 */
export async function queueDocuments(
  context: Context,
  project: ProjectId,
  kbId: string,
  ingests: readonly NewIngest[],
): Promise<QueuedIngest[]> {
  const bytes = ingests.reduce((sum, ingest) => sum + (ingest.bytes?.byteLength ?? 0), 0);
  await context.storedBytes.checkRoom(project, "documents", bytes);
  return context.db.transaction(async (tx) => {
    await holdKb(tx, project, kbId);
    await checkRoom(tx, project, { count: ingests.length, bytes });
    // In the order of keys, to avoid deadlocks between two calls with the same documents.
    const order = [...ingests.keys()].sort((a, b) => ((ingests[a]?.key ?? "") < (ingests[b]?.key ?? "") ? -1 : 1));
    const queued = new Map<number, QueuedIngest>();
    for (const index of order) {
      const ingest = ingests[index];
      if (ingest !== undefined) queued.set(index, await queueDocument(tx, project, kbId, ingest));
    }
    await checkDocuments(tx, project);
    return ingests.flatMap((_, index) => queued.get(index) ?? []);
  });
}

/** Accepts a sitemap. Throws as `queueDocuments`. */
export function queueSitemap(
  context: Context,
  project: ProjectId,
  kbId: string,
  { url, maxPages }: { url: string; maxPages: number },
): Promise<{ importId: string; ingestId: string }> {
  return context.db.transaction(async (tx) => {
    await holdKb(tx, project, kbId);
    await checkRoom(tx, project, { count: 1, bytes: 0 });
    const importId = newId();
    await sql.insertImport.run(tx, { id: importId, project, kbId, url, maxPages });
    const ingestId = newId();
    await sql.insertSitemap.run(tx, { ingestId, project, kbId, importId, url });
    return { importId, ingestId };
  });
}

/**
 * Claims the next ingest, and counts the attempt, unless the previous lease expired; null if nothing is queued.
 * Projects take turns; within one, submitted texts and files go before single pages, and these before sitemaps, each
 * oldest first.
 */
export async function claim(
  context: Context,
  { canRead = true, canFetch = true, maxBytes = MAX_INTEGER, fetchingFor = [] }: IngestFilter = {},
): Promise<ClaimedIngest | null> {
  const lastServed = lastServedOf(context);
  const turn = `${canRead} ${canFetch} ${maxBytes}`;
  const row = await sql.claim.one<ClaimedIngest>(context.leases, {
    leaseId: newId(),
    handedIn: canRead ? INGEST_PRIORITY.handedIn : INGEST_PRIORITY.page,
    projectId: lastServed.get(turn) ?? NO_PROJECT,
    ofSitemap: canFetch ? INGEST_PRIORITY.ofSitemap : INGEST_PRIORITY.handedIn,
    maxBytes,
    fetchingFor,
    processId: context.processId,
  });
  if (row !== null) lastServed.set(turn, row.project);
  return row;
}

/** Renews leases; returns the ids of those that are still held. */
export async function renewLeases(context: Context, claims: readonly ClaimedIngest[]): Promise<Set<string>> {
  const held = new Set<string>();
  // One by one: a statement with several rows could deadlock with a process that submits the same documents.
  for (const { id, leaseId } of claims) {
    if ((await sql.renew.all(context.leases, { id, leaseId })).length > 0) held.add(leaseId);
  }
  return held;
}

/** Returns the stored bytes, read in parts; null if the ingest was deleted or replaced. */
export async function readBytes(context: Context, { id, project, sizeBytes }: ClaimedIngest): Promise<Buffer | null> {
  const bytes = Buffer.allocUnsafe(sizeBytes);
  let filled = 0;
  for (let ordinal = 0; filled < sizeBytes; ordinal += 1) {
    const part = await sql.readBytes.one(context.db, { id, ordinal, project });
    if (part === null) return null;
    filled += part.bytes.copy(bytes, filled);
  }
  return bytes;
}

/**
 * Finishes an ingest: `put` writes documents in the same transaction, so that the new passages, the end of the ingest
 * and the counts are committed together, exactly once. Returns false, without changes, if the lease was lost: the
 * document was deleted or replaced, or another worker has claimed it.
 */
export const finish = (
  context: Context,
  claim: ClaimedIngest,
  put: (documents: DocumentPutter) => Promise<void>,
): Promise<boolean> =>
  endUnderLease(context, claim, async (tx) => {
    await put(bind(tx, documents));
    await countInImport(tx, claim.importId, { done: 1, failed: 0 });
  });

/**
 * Finishes an ingest whose document cannot be read, with a description of the reason. Existing passages remain. Returns
 * false as `finish`.
 */
export const fail = (context: Context, claim: ClaimedIngest, error: string): Promise<boolean> =>
  endUnderLease(context, claim, async (tx) => {
    if (claim.documentId === null) {
      await sql.failImport.run(tx, { importId: claim.importId, error });
      return;
    }
    await sql.failDocument.run(tx, { documentId: claim.documentId, error });
    await countInImport(tx, claim.importId, { done: 0, failed: 1 });
  });

/**
 * Finishes reading a sitemap: its pages are queued from then on, unless they already are. `incomplete` says why pages are
 * missing. Returns false as `finish`. Throws rate_limited if the queue would exceed its limits.
 */
export const finishSitemap = (
  context: Context,
  claim: ClaimedIngest,
  pages: readonly string[],
  incomplete: string | null = null,
): Promise<boolean> =>
  endUnderLease(context, claim, async (tx) => {
    await checkRoom(tx, claim.project, { count: pages.length, bytes: 0 });
    let found = 0;
    for (let start = 0; start < pages.length; start += PAGE_BATCH) {
      found += await queuePages(tx, claim, pages.slice(start, start + PAGE_BATCH));
    }
    await sql.countFound.run(tx, { importId: claim.importId, found, incomplete });
  });

/**
 * Releases a lease: the next attempt follows after `delayMs`, and this one does not count unless `counts`. Does nothing
 * if the lease was lost.
 */
export const retryLater = (
  context: Context,
  { id, leaseId }: ClaimedIngest,
  { delayMs, failure, counts }: { delayMs: number; failure: string | null; counts: boolean },
): Promise<void> =>
  sql.retryLater.exec(context.db, {
    id,
    leaseId,
    failure,
    uncounted: counts ? 0 : 1,
    delayMs: Math.round(delayMs),
  });

/** Returns up to `limit` ingests of all projects that are due and not claimed, for the sweeper to publish. */
export const claimDue = (context: Context, limit: number) => sql.due.all<DueIngest>(context.db, { limit });

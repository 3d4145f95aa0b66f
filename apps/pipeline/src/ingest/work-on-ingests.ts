import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { READ_LIMITS, findSitePages } from "@svc/knowledge";
import type { CheckedDocument } from "@svc/knowledge";
import { MAX_LAPSES, isUnavailable, outlastOutage } from "@svc/store";
import type { ClaimedIngest, PreparedDocument } from "@svc/store";
import type { IngestContext } from "./ingest-context.ts";
import type { IngestLeases, KeptLease } from "./ingest-leases.ts";
import { readDocument } from "./read-document.ts";
import { ReadingFault, reading } from "./reading-fault.ts";

/** After the first, second, third and fourth failed try. */
const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000];
/** A site may ask to be left alone for longer (`Retry-After`), up to this. */
const RETRY_AFTER_MAX_MS = 3_600_000;
/** When the store was away: nothing is known of the document then. */
const STORE_DELAY_MS = 2_000;
/** For all sitemaps of one import together: nobody else's pages are fetched meanwhile. */
const SITEMAP_DEADLINE_MS = 5 * 60_000;

/** Pages and sitemaps that one process fetches at once, each of another project. */
const FETCHES = 3;

/** Calls of one worker that have something to do at once: for a file of any size, for a small one, and for pages. */
export const INGEST_CONCURRENCY = 2 + FETCHES;

/** What a call may work on next. */
type Role = "any file" | "small file" | "page";

/**
 * Makes the function that reads what waits until nothing does, projects in turns. Each of several concurrent calls has a
 * role, so that the slow documents of one project do not hold up those of others: one call reads files of any size, one
 * only small ones, and the others fetch pages and sitemaps, each for another project. Idempotent, so that jobs may come
 * twice or be lost: it claims whatever waits by a lease, and a document and the end of its ingest become real in one
 * transaction that the lease fences.
 */
export function createIngestWorker(
  context: IngestContext,
  leases: IngestLeases,
  { sitemapDeadlineMs = SITEMAP_DEADLINE_MS }: { sitemapDeadlineMs?: number } = {},
) {
  const { store, log } = context;
  /** How many calls have a role, and the projects for which pages are fetched. */
  const inRole: Record<Role, number> = { "any file": 0, "small file": 0, page: 0 };
  const fetchingFor: string[] = [];
  let lastPageClaim: Promise<unknown> = Promise.resolve();

  async function ingestSitemap(claim: ClaimedIngest, signal: AbortSignal): Promise<boolean> {
    const skipBad = (url: string, error: Error) => log.info({ url, reason: error.message }, "sitemap skipped");
    const late = AbortSignal.timeout(sitemapDeadlineMs);
    const pages = await reading(async () => {
      try {
        return await findSitePages(context.fetcher, claim.url ?? "", {
          maxPages: claim.maxPages ?? KB_LIMITS.pagesDefaultCount,
          signal: AbortSignal.any([signal, late]),
          onBadSitemap: skipBad,
        });
      } catch (error) {
        throw late.aborted && !signal.aborted ? tooSlow(sitemapDeadlineMs, error) : error;
      }
    });
    return store.ingests.finishSitemap(claim, pages);
  }

  async function ingestDocument(
    claim: ClaimedIngest & { kind: "text" | "file" | "page" },
    signal: AbortSignal,
  ): Promise<boolean> {
    const read = await readDocument(context, claim, signal);
    if (read === null) return store.ingests.finish(claim, () => Promise.resolve());
    const { checked, source } = read;
    const { project, kbId } = claim;
    const unchanged = await store.documents.findUnchanged(project, kbId, checked);
    const prepared = unchanged === null ? await prepare(checked) : null;
    // What was handed in with its bytes was checked then.
    if (prepared !== null && claim.kind === "page") {
      await store.storedBytes.checkRoom(project, "documents", prepared.document.sizeBytes);
    }
    return store.ingests.finish(claim, async (documents) => {
      const put =
        prepared === null
          ? await documents.findUnchanged(project, kbId, checked)
          : await documents.putPrepared(project, kbId, prepared);
      if (put === null) throw new Error("document changed while it was processed");
      await documents.noteSource(project, put.documentId, checked.contentHash, source);
    });
  }

  /** Stems and counts, so that nothing is left to do under the locks but to write. */
  async function prepare(checked: CheckedDocument): Promise<PreparedDocument> {
    const { document, indexed } = await reading(() => checked.cut());
    return store.documents.prepare(document, indexed);
  }

  async function fail(claim: ClaimedIngest, reason: string): Promise<void> {
    await store.ingests.fail(claim, reason);
    log.info({ ingestId: claim.id, documentId: claim.documentId, reason }, "document could not be read");
  }

  /** Notes why a try failed: for ever when it is the document's own fault or the last try, else until the next one. */
  async function settle(claim: ClaimedIngest, error: unknown): Promise<void> {
    if (error instanceof ReadingFault && error.isFinal) return fail(claim, error.message);
    if (!(error instanceof ReadingFault) && isUnavailable(error)) return undoAttempt(claim, STORE_DELAY_MS);
    const reason = findPassingReason(error);
    if (reason === null) log.error({ error, ingestId: claim.id }, "failed to process a document");
    const failure = reason ?? "Internal error while reading this document. See the log.";
    const delayMs = RETRY_DELAYS_MS[claim.attempts - 1];
    if (delayMs === undefined || claim.attempts >= KB_LIMITS.maxAttempts) return fail(claim, failure);
    return store.ingests.retryLater(claim, { delayMs: Math.max(delayMs, retryAfterMs(error)), failure, counts: true });
  }

  const undoAttempt = (claim: ClaimedIngest, delayMs: number) =>
    store.ingests.retryLater(claim, { delayMs, failure: null, counts: false });

  /** Ends work that was aborted: what was lost to another is no longer ours to release. */
  async function settleAborted(claim: ClaimedIngest, lease: KeptLease): Promise<void> {
    if (lease.whyBrokenOff() === "stopping") await undoAttempt(claim, 0);
  }

  async function handle(claim: ClaimedIngest, isStopping: () => boolean): Promise<void> {
    const lease = leases.keep(claim);
    try {
      const reason = explainExpiredLeases(claim);
      if (reason !== null) {
        await fail(claim, reason);
        return;
      }
      const { kind } = claim;
      const done = await (kind === "sitemap"
        ? ingestSitemap(claim, lease.signal)
        : ingestDocument({ ...claim, kind }, lease.signal));
      log.debug({ ingestId: claim.id, documentId: claim.documentId, done }, "document processed");
    } catch (error) {
      // Otherwise the next attempt would wait until the lease expires.
      const end = () => (lease.signal.aborted ? settleAborted(claim, lease) : settle(claim, error));
      await outlastOutage(end, () => !isStopping());
    } finally {
      lease.drop();
    }
  }

  /** Claims a page or sitemap of a project for which nothing is fetched, one call after the other. */
  function claimPage(): Promise<ClaimedIngest | null> {
    const claiming = lastPageClaim.then(async () => {
      const claim = await store.ingests.claim({ canRead: false, fetchingFor });
      if (claim !== null) fetchingFor.push(claim.project);
      return claim;
    });
    lastPageClaim = claiming.catch(() => undefined);
    return claiming;
  }

  /** Claims what this role may work on next; null when nothing waits for it. */
  function claimFor(role: Role): Promise<ClaimedIngest | null> {
    if (role === "page") return claimPage();
    return store.ingests.claim({
      canFetch: false,
      ...(role === "small file" ? { maxBytes: READ_LIMITS.smallFileBytes } : {}),
    });
  }

  /** Works on what is next in a role that has room; true if there was something. */
  async function workIn(role: Role, isStopping: () => boolean): Promise<boolean> {
    if (inRole[role] >= (role === "page" ? FETCHES : 1)) return false;
    inRole[role] += 1;
    let claim: ClaimedIngest | null = null;
    try {
      claim = await claimFor(role);
      if (claim !== null) await handle(claim, isStopping);
      return claim !== null;
    } finally {
      inRole[role] -= 1;
      if (role === "page" && claim !== null) fetchingFor.splice(fetchingFor.indexOf(claim.project), 1);
    }
  }

  /** Works on what is next; true while there may be more. */
  async function workOnNext(isStopping: () => boolean): Promise<boolean> {
    for (const role of ["any file", "small file", "page"] as const) if (await workIn(role, isStopping)) return true;
    return false;
  }

  return async function workOnIngests(isStopping: () => boolean): Promise<void> {
    let mayBeMore = true;
    while (mayBeMore && !isStopping()) mayBeMore = await workOnNext(isStopping);
  };
}

/** Why a document is given up because of the leases on it that expired; null while it can be tried again. */
function explainExpiredLeases({ crashes, lapses }: ClaimedIngest): string | null {
  if (crashes >= KB_LIMITS.maxAttempts) {
    return `The process crashed ${crashes} times while reading this document. Split it into several documents.`;
  }
  if (lapses < MAX_LAPSES) return null;
  return `The service was too busy to read this document ${lapses} times. Add it again later, or split it.`;
}

function tooSlow(deadlineMs: number, cause: unknown): ServiceError {
  const detail = `The sitemaps could not be read within ${deadlineMs / 60_000} minutes. Specify one of them, or retry when the site is faster.`;
  return new ServiceError("invalid_request", detail, { cause });
}

/** How long the site of a page asks to be left alone; 0 where it does not say. */
function retryAfterMs(error: unknown): number {
  const cause = error instanceof ReadingFault ? error.cause : null;
  const seconds = cause instanceof ServiceError ? Number(cause.headers["retry-after"] ?? 0) : 0;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0) * 1_000, RETRY_AFTER_MAX_MS) : 0;
}

/** What keeps a document from being read that may pass by itself, in words: its site is away, or too much waits, or there is no room. */
function findPassingReason(error: unknown): string | null {
  const isPassing =
    (error instanceof ReadingFault && isUnavailable(error.cause)) ||
    (error instanceof ServiceError && (error.code === "rate_limited" || error.code === "storage_full"));
  return isPassing ? error.message : null;
}

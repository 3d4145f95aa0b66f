import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { READ_LIMITS, findSitePages } from "@svc/knowledge";
import type { CheckedDocument } from "@svc/knowledge";
import { announceWork, followRemovals } from "@svc/queue";
import { INGEST_LEASE_MS, MAX_LAPSES, isUnavailable } from "@svc/store";
import type { ClaimedIngest, PreparedDocument, Store } from "@svc/store";
import { createLeaseManager, defineWork } from "@svc/work";
import type { Failure, HeldLease, Work } from "@svc/work";
import { ReadingError, readDocument, reading } from "./read-document.ts";
import type { IngestContext } from "./read-document.ts";

/** Delays after the first, second, third and fourth failed attempt. */
const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000];
/** Longest delay that a site can request with `Retry-After`. */
const RETRY_AFTER_MAX_MS = 3_600_000;
/** Delay after an outage of the store, which is not an error of the document. */
const STORE_DELAY_MS = 2_000;
/** Time for all sitemaps of one import together: no pages of other imports are fetched meanwhile. */
const SITEMAP_DEADLINE_MS = 5 * 60_000;
const RENEW_MS = 2_000;
/** Documents that are still being read are aborted early during shutdown, and read again by another process. */
const SHUTDOWN = { abortAfterMs: 1_500, deadlineMs: 3_000 };
/** A deletion wakes up the removal of its content; this is for one whose wake-up was lost. */
const PURGE_KBS_MS = 30_000;
/** How often imports that ended long ago are deleted. */
const PURGE_IMPORTS_MS = 3_600_000;
/** Announcements of one sweep: a worker continues by itself from one document to the next. */
const SWEEP_LIMIT = 20;

/** Pages and sitemaps that one process fetches at once, each of another project. */
const FETCHES = 3;

/** Calls of one worker that have something to do at once: for a file of any size, for a small one, and for pages. */
export const INGEST_CONCURRENCY = 2 + FETCHES;

/** What a call may work on next. */
type Role = "any file" | "small file" | "page";

const ROLES: readonly Role[] = ["any file", "small file", "page"];

/**
 * Defines the work of reading documents into knowledge bases, with projects in turns. Each of several concurrent
 * calls has a role, so that the slow documents of one project do not delay those of others: one call reads files of
 * any size, one only small ones, and the others fetch pages and sitemaps, each for another project. A document and
 * the end of its ingest are committed in one transaction that the lease fences.
 */
// oxlint-disable-next-line max-lines-per-function -- One definition of work: data and its short functions.
export function ingestDocuments(
  context: IngestContext,
  { sitemapDeadlineMs = SITEMAP_DEADLINE_MS }: { sitemapDeadlineMs?: number } = {},
): Work<void> {
  const { store, queues, log } = context;
  const claimNext = createRoleClaims(store);

  async function run(claim: ClaimedIngest, { signal }: HeldLease): Promise<boolean> {
    const { kind } = claim;
    const done = await (kind === "sitemap"
      ? ingestSitemap(context, claim, { signal, deadlineMs: sitemapDeadlineMs })
      : ingestDocument(context, { ...claim, kind }, signal));
    log.debug({ ingestId: claim.id, documentId: claim.documentId, done }, "document processed");
    return true;
  }

  function judge(error: unknown, { id, attempts }: ClaimedIngest): Failure {
    if (error instanceof ReadingError && error.isFinal) {
      return { counts: true, reason: error.message, isFinal: true, attempts };
    }
    if (!(error instanceof ReadingError) && isUnavailable(error)) return { counts: false, delayMs: STORE_DELAY_MS };
    const reason = findPassingReason(error);
    if (reason === null) log.error({ error, ingestId: id }, "failed to process a document");
    const failure = reason ?? "Internal error while reading this document. See the log.";
    return { counts: true, reason: failure, attempts, minDelayMs: retryAfterMs(error) };
  }

  const announceDue = async () => announceWork(queues, "ingest-documents", await store.ingests.claimDue(SWEEP_LIMIT));

  /** Repeats a removal until nothing is left. It takes many steps, which must not block waiting documents. */
  const purge = (removeSome: () => Promise<boolean>) => async (isStopped: () => boolean) => {
    while (!isStopped() && (await removeSome())) if (queues.isUp()) await announceDue();
  };

  return defineWork(
    { queues, log },
    {
      name: "documents",
      consumes: [{ queue: "ingest-documents", concurrency: INGEST_CONCURRENCY }],
      targets: () => [undefined],
      leases: createLeaseManager<ClaimedIngest>(log, {
        name: "documents",
        ms: INGEST_LEASE_MS,
        renewMs: RENEW_MS,
        renew: (claims) => store.ingests.renewLeases(claims),
      }),
      claim: (_target, { handle }) => claimNext(handle),
      run,
      failures: {
        maxAttempts: KB_LIMITS.maxAttempts,
        retry: RETRY_DELAYS_MS,
        explainExpiredLeases,
        judge,
        retryLater: (claim, { delayMs, counts, reason }) =>
          store.ingests.retryLater(claim, { delayMs, failure: reason, counts }),
        async giveUp(claim, reason) {
          await store.ingests.fail(claim, reason);
          log.info({ ingestId: claim.id, documentId: claim.documentId, reason }, "document could not be read");
          return true;
        },
        facts: ({ id }) => ({ ingestId: id }),
      },
      due: { isDue: async () => (await store.dueWork.find()).ingests, run: announceDue },
      sweeps: [
        { everyMs: PURGE_KBS_MS, run: purge(() => store.kbs.purge()) },
        { everyMs: PURGE_IMPORTS_MS, run: purge(() => store.imports.purge()) },
      ],
      listen: ({ wakeSweeps }) => followRemovals(queues, wakeSweeps),
      shutdown: SHUTDOWN,
    },
  );
}

/**
 * Returns a function that claims and handles work for the next role with a free slot; it returns false if there is
 * none.
 */
function createRoleClaims(store: Store) {
  /** How many calls have a role, and the projects for which pages are fetched. */
  const inRole: Record<Role, number> = { "any file": 0, "small file": 0, page: 0 };
  const fetchingFor: string[] = [];
  let lastPageClaim: Promise<unknown> = Promise.resolve();

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

  /** Claims the next work of this role; null if there is none. */
  function claimFor(role: Role): Promise<ClaimedIngest | null> {
    if (role === "page") return claimPage();
    return store.ingests.claim({
      canFetch: false,
      ...(role === "small file" ? { maxBytes: READ_LIMITS.smallFileBytes } : {}),
    });
  }

  /** Handles the next work of a role with a free slot; returns true if there was any. */
  async function workIn(role: Role, handle: (claim: ClaimedIngest) => Promise<boolean>): Promise<boolean> {
    if (inRole[role] >= (role === "page" ? FETCHES : 1)) return false;
    inRole[role] += 1;
    let claim: ClaimedIngest | null = null;
    try {
      claim = await claimFor(role);
      if (claim !== null) await handle(claim);
      return claim !== null;
    } finally {
      inRole[role] -= 1;
      if (role === "page" && claim !== null) fetchingFor.splice(fetchingFor.indexOf(claim.project), 1);
    }
  }

  return async (handle: (claim: ClaimedIngest) => Promise<boolean>): Promise<boolean> => {
    for (const role of ROLES) if (await workIn(role, handle)) return true;
    return false;
  };
}

async function ingestSitemap(
  { store, log, fetcher, reader }: IngestContext,
  claim: ClaimedIngest,
  { signal, deadlineMs }: { signal: AbortSignal; deadlineMs: number },
): Promise<boolean> {
  let incomplete: string | null = null;
  const onIncomplete = (url: string, { code, message }: ServiceError) => {
    log.info({ url, reason: message }, "part of a site was skipped");
    // An unavailable page is read later; its links are not followed then, so pages that only it links to are missing.
    if (code !== "unavailable") incomplete ??= message;
  };
  const late = AbortSignal.timeout(deadlineMs);
  const pages = await reading(async () => {
    try {
      const found = await findSitePages({ fetcher, reader }, claim.url ?? "", {
        maxPages: claim.maxPages ?? KB_LIMITS.pagesDefaultCount,
        signal: AbortSignal.any([signal, late]),
        onIncomplete,
      });
      if (found.length === 0) throw noPages();
      return found;
    } catch (error) {
      throw late.aborted && !signal.aborted ? tooSlow(deadlineMs, error) : error;
    }
  });
  return store.ingests.finishSitemap(claim, pages, incomplete);
}

async function ingestDocument(
  context: IngestContext,
  claim: ClaimedIngest & { kind: "text" | "file" | "page" },
  signal: AbortSignal,
): Promise<boolean> {
  const { store } = context;
  const read = await readDocument(context, claim, signal);
  if (read === null) return store.ingests.finish(claim, () => Promise.resolve());
  const { checked, source } = read;
  const { project, kbId } = claim;
  const unchanged = await store.documents.findUnchanged(project, kbId, checked);
  const prepared = unchanged === null ? await prepare(store, checked) : null;
  // Uploaded documents were checked at the upload.
  if (prepared !== null && claim.kind === "page") {
    await store.storedBytes.checkRoom(project, "documents", prepared.document.sizeBytes);
  }
  return store.ingests.finish(claim, async (documents) => {
    const put =
      prepared === null
        ? await documents.findUnchanged(project, kbId, checked)
        : await documents.putPrepared(project, kbId, prepared);
    if (put === null) throw new Error("document changed while it was processed");
    await documents.recordSource(project, { id: put.documentId, contentHash: checked.contentHash }, source);
  });
}

/** Stems and counts the words before the transaction, so that its locks are only held for writing. */
async function prepare(store: Store, checked: CheckedDocument): Promise<PreparedDocument> {
  const { document, indexed } = await reading(() => checked.cut());
  return store.documents.prepare(document, indexed);
}

/** Returns why a document is given up because of the leases on it that expired; null if it can be attempted again. */
function explainExpiredLeases({ crashes, lapses }: ClaimedIngest): string | null {
  if (crashes >= KB_LIMITS.maxAttempts) {
    return `The process crashed ${crashes} times while reading this document. Split it into several documents.`;
  }
  if (lapses < MAX_LAPSES) return null;
  return `The service was too busy to read this document ${lapses} times. Add it again later, or split it.`;
}

function noPages(): ServiceError {
  const detail =
    "This sitemap lists no pages of its own site that may be read. Use the URL of the website, or check its sitemap and robots.txt.";
  return new ServiceError("invalid_request", detail);
}

function tooSlow(deadlineMs: number, cause: unknown): ServiceError {
  const detail = `The sitemaps could not be read within ${deadlineMs / 60_000} minutes. Specify one of them, or retry when the site is faster.`;
  return new ServiceError("invalid_request", detail, { cause });
}

/** Returns the delay that a page's site requests, in milliseconds; 0 if it requests none. */
function retryAfterMs(error: unknown): number {
  const cause = error instanceof ReadingError ? error.cause : null;
  const seconds = cause instanceof ServiceError ? Number(cause.headers["retry-after"] ?? 0) : 0;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0) * 1_000, RETRY_AFTER_MAX_MS) : 0;
}

/**
 * Returns why a document cannot be read for now, in words (its site is unavailable, too many documents wait, or
 * storage is full); otherwise null.
 */
function findPassingReason(error: unknown): string | null {
  const isTransient =
    (error instanceof ReadingError && isUnavailable(error.cause)) ||
    (error instanceof ServiceError && (error.code === "rate_limited" || error.code === "storage_full"));
  return isTransient ? error.message : null;
}

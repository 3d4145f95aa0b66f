import { KB_LIMITS, ServiceError } from "@svc/contracts";
import { findSitePages } from "@svc/knowledge";
import { isUnavailable } from "@svc/store";
import type { ClaimedIngest } from "@svc/store";
import type { IngestContext } from "./ingest-context.ts";
import type { IngestLeases } from "./ingest-leases.ts";
import { readDocument } from "./read-document.ts";
import { ReadingFault, reading } from "./reading-fault.ts";

/** After the first, second, third and fourth failed try. */
const RETRY_DELAYS_MS = [5_000, 30_000, 120_000, 600_000];
/** When the store was away: nothing is known of the document then. */
const STORE_DELAY_MS = 2_000;

/**
 * Makes the function that reads what waits, one after the other, until nothing does: single documents before the pages
 * of sitemaps. Called twice at a time it reads two; only one of the calls fetches, so that a slow site takes no more
 * than its place. Idempotent, so that jobs may come twice or be lost: it takes whatever waits by a lease, and a document
 * and the end of its ingest become real in one transaction that the lease fences.
 */
export function createIngestWorker(context: IngestContext, leases: IngestLeases) {
  const { store, log } = context;
  let isFetching = false;

  async function ingestSitemap(claim: ClaimedIngest, signal: AbortSignal): Promise<boolean> {
    const skipBad = (url: string, error: Error) => log.info({ url, reason: error.message }, "a sitemap was left out");
    const pages = await reading(() =>
      findSitePages(context.fetcher, claim.url ?? "", {
        maxPages: claim.maxPages ?? KB_LIMITS.pagesDefaultCount,
        signal,
        onBadSitemap: skipBad,
      }),
    );
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
    const cut = unchanged === null ? await reading(() => checked.cut()) : null;
    return store.ingests.finish(claim, async (documents) => {
      const put =
        cut === null
          ? await documents.findUnchanged(project, kbId, checked)
          : await documents.put(project, kbId, cut.document, cut.indexed);
      if (put === null) throw new Error("the document was changed by somebody else while it was read");
      await documents.noteSource(project, put.documentId, source);
    });
  }

  async function fail(claim: ClaimedIngest, reason: string): Promise<void> {
    await store.ingests.fail(claim, reason);
    log.info({ ingestId: claim.id, documentId: claim.documentId, reason }, "a document could not be read");
  }

  /** Notes why a try failed: for ever when it is the document's own fault or the last try, else until the next one. */
  async function settle(claim: ClaimedIngest, error: unknown): Promise<void> {
    if (error instanceof ReadingFault && error.isFinal) return fail(claim, error.message);
    if (!(error instanceof ReadingFault) && isUnavailable(error)) {
      return store.ingests.retryLater(claim, { delayMs: STORE_DELAY_MS, failure: null, counts: false });
    }
    const reason = findPassingReason(error);
    if (reason === null) log.error({ error, ingestId: claim.id }, "a document could not be ingested");
    const failure = reason ?? "The service failed to read this document; its log says why.";
    const delayMs = RETRY_DELAYS_MS[claim.attempts - 1];
    if (delayMs === undefined || claim.attempts >= KB_LIMITS.maxAttempts) return fail(claim, failure);
    return store.ingests.retryLater(claim, { delayMs, failure, counts: true });
  }

  async function handle(claim: ClaimedIngest): Promise<void> {
    const lease = leases.keep(claim);
    try {
      if (claim.attempts > KB_LIMITS.maxAttempts) {
        const tries = KB_LIMITS.maxAttempts;
        await fail(claim, `The process that read this document ended ${tries} times; split it into several documents.`);
        return;
      }
      const { kind } = claim;
      const done = await (kind === "sitemap"
        ? ingestSitemap(claim, lease.signal)
        : ingestDocument({ ...claim, kind }, lease.signal));
      log.debug({ ingestId: claim.id, documentId: claim.documentId, done }, "a document was ingested");
    } catch (error) {
      if (lease.signal.aborted) {
        // Given back untried at a stop; lost to something newer it is no longer ours to give.
        await store.ingests.retryLater(claim, { delayMs: 0, failure: null, counts: false });
      } else {
        await settle(claim, error);
      }
    } finally {
      lease.drop();
    }
  }

  /** The one turn to fetch, until it is given back; null while somebody else has it. */
  function takeFetchingTurn(): (() => void) | null {
    if (isFetching) return null;
    isFetching = true;
    let isMine = true;
    return () => {
      if (isMine) isFetching = false;
      isMine = false;
    };
  }

  /** Reads what is next; true while there may be more. */
  async function readNext(): Promise<boolean> {
    const endTurn = takeFetchingTurn();
    try {
      const claim = await store.ingests.claim({ canFetch: endTurn !== null });
      if (claim === null) return false;
      if (claim.kind === "text" || claim.kind === "file") endTurn?.();
      await handle(claim);
      return true;
    } finally {
      endTurn?.();
    }
  }

  return async function workOnIngests(isStopping: () => boolean): Promise<void> {
    let mayBeMore = true;
    while (mayBeMore && !isStopping()) mayBeMore = await readNext();
  };
}

/** What keeps a document from being read that may pass by itself, in words: its site is away, or too much waits. */
function findPassingReason(error: unknown): string | null {
  const isPassing =
    (error instanceof ReadingFault && isUnavailable(error.cause)) ||
    (error instanceof ServiceError && error.code === "rate_limited");
  return isPassing ? error.message : null;
}

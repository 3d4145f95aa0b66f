import type { Log } from "@svc/log";
import { followRemovals } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { startSweeps } from "@svc/work";
import { isUnavailable, storageWarnings } from "@svc/store";
import type { DuePurge, Store } from "@svc/store";

/** A deletion and a change of a retention period wake up the sweeps; everything else may be deleted up to an hour late. */
const SWEEP_MS = 30_000;
/** Time after which the retention checks of further projects wait for the next sweep, so that its other steps take turns. */
const PURGE_MS = 10_000;
/** One process moves files at a time; a second one would do no harm. */
const MOVER = "file-mover";
const MOVER_LEASE_MS = 60_000;
/** How often storage is compared with its limits: for a warning in the log even if nothing new is stored. */
const WARN_STORAGE_MS = 600_000;
/** Partitions are made more than a month before they are needed. */
const KEEP_PARTITIONS_MS = 3_600_000;

interface SweeperDeps {
  store: Store;
  queues: Pick<Queues, "wakeUps">;
  log: Log;
}

async function removeDeleted({ store }: SweeperDeps, isStopped: () => boolean): Promise<void> {
  while (!isStopped() && (await store.erasures.purgeDeleted()));
}

async function recordPurge({ store, log }: SweeperDeps, { project, name }: DuePurge, count: number): Promise<void> {
  log.info({ project, erased: count }, "erased conversations past their retention");
  await store.audit.append({
    actor: "retention",
    action: "privacy.purge",
    object: null,
    project: { id: project, name },
    result: "ok",
    requestId: null,
    count,
  });
}

/** Erases the data of a project that is past its retention. */
async function purgeProject(deps: SweeperDeps, due: DuePurge, isStopped: () => boolean): Promise<void> {
  let erased = 0;
  let after: string | null = null;
  try {
    do {
      const page = await deps.store.erasures.purgeIdle(due, after);
      erased += page.erased;
      after = page.next;
    } while (after !== null && !isStopped());
  } finally {
    // Rows that were deleted before the store failed are still recorded, as soon as the store recovers.
    if (erased > 0) await recordPurge(deps, due, erased);
  }
}

async function purgeIdle(deps: SweeperDeps, isStopped: () => boolean): Promise<void> {
  const until = performance.now() + PURGE_MS;
  while (!isStopped() && performance.now() < until) {
    const due = await deps.store.erasures.claimDuePurge();
    if (due === null) return;
    await purgeProject(deps, due, isStopped);
  }
}

async function removeTexts({ store }: SweeperDeps): Promise<void> {
  await store.unfinishedReplies.removeIdle();
  await store.operatorFiles.removeUnused();
  while (await store.storedBytes.fold());
}

async function expireFiles({ store, log }: SweeperDeps, isStopped: () => boolean): Promise<void> {
  for (let page = await store.widgetFiles.expire(); page !== null; page = await store.widgetFiles.expire()) {
    const { project, expired } = page;
    if (expired > 0) log.info({ project, expired }, "deleted files past their retention");
    if (isStopped()) return;
  }
}

async function warnStorage({ store, log }: SweeperDeps): Promise<void> {
  for (const warning of storageWarnings(await store.storedBytes.read())) {
    log.warn({}, `${warning}. Delete files, shorten their retention (fileRetentionDays), or raise the limit`);
  }
}

async function maintainPartitions({ store, log }: SweeperDeps): Promise<void> {
  try {
    const { made, dropped } = await store.partitions.maintain();
    if (made.length + dropped.length > 0) log.info({ made, dropped }, "changed the partitions of tables");
  } catch (error) {
    if (isUnavailable(error)) throw error;
    // For example, a role that does not own the tables: a person has to act, and no data is lost meanwhile.
    log.warn({ error }, "failed to change the partitions of tables; the next attempt is in an hour");
  }
}

/** Deletes objects that no file refers to any more, and then moves files to the object store. */
async function moveFiles({ store }: SweeperDeps, isStopped: () => boolean): Promise<void> {
  if (!store.fileObjects.isConfigured) return;
  while (!isStopped() && (await store.fileObjects.remove()));
  if (!(await store.serviceLeases.claim(MOVER, store.processes.ownId, MOVER_LEASE_MS))) return;
  while (!isStopped() && (await store.fileObjects.move())) {
    if (!(await store.serviceLeases.claim(MOVER, store.processes.ownId, MOVER_LEASE_MS))) return;
  }
}

/**
 * Runs every 30 seconds in every replica, and within a second after a deletion, an erasure or a change of a retention
 * period. It removes the data of deleted projects in small steps; once an hour per project, data older than its retention
 * period; leftovers of unfinished replies, and operators' files that no decision uses. It expires visitors' files and moves
 * files to the object store, merges the rows that count stored bytes, and once an hour creates the partitions of coming
 * months and drops those whose rows are all deleted. Replicas share the work; the next sweep continues after a crash.
 */
export function startPrivacySweeper(deps: SweeperDeps): { stop(): Promise<void> } {
  const steps = [removeDeleted, purgeIdle, removeTexts, expireFiles, moveFiles];
  const sweeps = startSweeps(deps.log, "expired data", [
    ...steps.map((step) => ({ everyMs: SWEEP_MS, run: (isStopped: () => boolean) => step(deps, isStopped) })),
    { everyMs: WARN_STORAGE_MS, run: () => warnStorage(deps) },
    { everyMs: KEEP_PARTITIONS_MS, run: () => maintainPartitions(deps) },
  ]);
  const silence = followRemovals(deps.queues, () => sweeps.wake());
  return {
    stop() {
      silence();
      return sweeps.stop();
    },
  };
}

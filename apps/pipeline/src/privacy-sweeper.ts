import type { Log } from "@svc/log";
import { followDeletions } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { startSweeps } from "@svc/work";
import { storageWarnings } from "@svc/store";
import type { DuePurge, Store } from "@svc/store";

/** A deletion wakes the sweeps up; for all else nobody waits: it is allowed to stay for an hour longer. */
const SWEEP_MS = 30_000;
/** How often storage is compared with its limits: for a warning in the log even if nothing new is stored. */
const WARN_STORAGE_MS = 600_000;

/**
 * Every 30 seconds in every replica, and after a deletion: removes what deleted projects held, a little at a time; takes, once an hour for
 * each project, what it has kept for longer than it wants to; removes what unfinished replies have left, and files that
 * no reply names; expires files of visitors; and folds the rows that count stored bytes. Replicas share the work; the
 * next sweep finds what one of them leaves undone when it crashes.
 */
// oxlint-disable-next-line max-lines-per-function -- One sweep whose steps share its state.
export function startPrivacySweeper({ store, queues, log }: { store: Store; queues: Queues; log: Log }): {
  stop(): Promise<void>;
} {
  async function removeDeleted(isStopped: () => boolean): Promise<void> {
    while (!isStopped() && (await store.erasures.purgeDeleted()));
  }

  async function note({ project, name }: DuePurge, count: number): Promise<void> {
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

  async function purgeIdle(isStopped: () => boolean): Promise<void> {
    const due = await store.erasures.takeDuePurge();
    if (due === null) return;
    let erased = 0;
    let after: string | null = null;
    try {
      do {
        const page = await store.erasures.purgeIdle(due, after);
        erased += page.erased;
        after = page.next;
      } while (after !== null && !isStopped());
    } finally {
      // What is erased when the store breaks off is erased, and has its row too, once the store takes it.
      if (erased > 0) await note(due, erased);
    }
  }

  async function removeTexts(): Promise<void> {
    await store.unfinishedReplies.removeIdle();
    await store.operatorFiles.removeUnused();
    while (await store.storedBytes.fold());
  }

  async function expireFiles(isStopped: () => boolean): Promise<void> {
    for (let page = await store.widgetFiles.expire(); page !== null; page = await store.widgetFiles.expire()) {
      const { project, expired } = page;
      if (expired > 0) log.info({ project, expired }, "deleted files past their retention");
      if (isStopped()) return;
    }
  }

  async function warnStorage(): Promise<void> {
    for (const warning of storageWarnings(await store.storedBytes.read())) {
      log.warn({}, `${warning}. Delete files, shorten their retention (fileRetentionDays), or raise the limit`);
    }
  }

  const steps = [removeDeleted, purgeIdle, removeTexts, expireFiles];
  const sweeps = startSweeps(log, "expired data", [
    ...steps.map((run) => ({ everyMs: SWEEP_MS, run })),
    { everyMs: WARN_STORAGE_MS, run: warnStorage },
  ]);
  const silence = followDeletions(queues, () => sweeps.wake());
  return {
    stop() {
      silence();
      return sweeps.stop();
    },
  };
}

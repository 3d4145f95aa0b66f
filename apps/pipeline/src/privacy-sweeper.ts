import type { Log } from "@svc/log";
import { startSweeps } from "@svc/runtime";
import { storageWarnings } from "@svc/store";
import type { DuePurge, Store } from "@svc/store";

/** How often the texts of replies are removed that were shown while they were being written. */
const REMOVE_TEXTS_MS = 10_000;
/** How often storage is compared with its limits: for a warning in the log while nothing new is stored, too. */
const WARN_STORAGE_MS = 600_000;

/**
 * Twice a second in every replica: removes what deleted projects held, a little at a time; and takes, once an hour for
 * each project, what it has kept for longer than it wants to. Less often: what unfinished replies have left, and files that no
 * reply names, and rows that count stored bytes are folded. Replicas share both, and what one of them leaves undone
 * when it dies is found by the next look.
 */
export function startPrivacySweeper(store: Store, log: Log): { stop(): Promise<void> } {
  async function removeDeleted(isStopped: () => boolean): Promise<void> {
    while (!isStopped() && (await store.erasures.purgeDeleted()));
  }

  async function note({ project, name }: DuePurge, count: number): Promise<void> {
    log.info({ project, erased: count }, "conversations were kept long enough and are erased");
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

  let removeTextsAt = 0;
  async function removeTexts(): Promise<void> {
    if (performance.now() < removeTextsAt) return;
    removeTextsAt = performance.now() + REMOVE_TEXTS_MS;
    await store.unfinishedReplies.removeIdle();
    await store.operatorFiles.removeUnused();
    while (await store.storedBytes.fold());
  }

  async function expireFiles(isStopped: () => boolean): Promise<void> {
    for (let page = await store.widgetFiles.expire(); page !== null; page = await store.widgetFiles.expire()) {
      const { project, expired } = page;
      if (expired > 0) log.info({ project, expired }, "files of visitors reached the end of their retention");
      if (isStopped()) return;
    }
  }

  let warnStorageAt = 0;
  async function warnStorage(): Promise<void> {
    if (performance.now() < warnStorageAt) return;
    warnStorageAt = performance.now() + WARN_STORAGE_MS;
    for (const warning of storageWarnings(await store.storedBytes.read())) {
      log.warn({}, `${warning}. Delete files, shorten their retention (fileRetentionDays), or raise the limit`);
    }
  }

  return startSweeps(log, "what has to be forgotten", [
    removeDeleted,
    purgeIdle,
    removeTexts,
    expireFiles,
    warnStorage,
  ]);
}

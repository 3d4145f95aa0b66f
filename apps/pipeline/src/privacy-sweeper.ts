import type { Log } from "@svc/log";
import { startSweeps } from "@svc/runtime";
import type { DuePurge, Store } from "@svc/store";

/** Nobody waits for any of this: what it removes cannot be found any more, or is allowed to stay for an hour longer. */
const SWEEP_MS = 10_000;

/**
 * Every ten seconds in every replica: removes what deleted projects held, a little at a time; takes, once an hour for
 * each project, what it has kept for longer than it wants to; and removes what unfinished replies have left, and files
 * that no reply names. Replicas share the work; the next sweep finds what one of them leaves undone when it crashes.
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

  async function removeTexts(): Promise<void> {
    await store.unfinishedReplies.removeIdle();
    await store.operatorFiles.removeUnused();
  }

  const steps = [removeDeleted, purgeIdle, removeTexts];
  return startSweeps(
    log,
    "what has to be forgotten",
    steps.map((run) => ({ everyMs: SWEEP_MS, run })),
  );
}

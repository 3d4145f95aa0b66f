/** Work that waits to run exclusively. */
interface Waiting {
  /** Most pieces of work that it may run together with, itself included. */
  limit: number;
  run(groupSize: number): Promise<void>;
}

/**
 * Creates a readers-writer lock for work, which runs concurrently, or exclusively in groups. A group starts when all
 * other work has ended, and blocks new work until it has ended. A group is half of the waiting work: if one piece of
 * work crashes its process, it is found by bisection while most of the others get done. Concurrent work starts
 * between two groups.
 */
export function createIsolation() {
  /** Work that runs concurrently. */
  const shared = new Set<Promise<unknown>>();
  const waiting: Waiting[] = [];
  const state: { hasGroups: boolean; groupEnd: Promise<void> | null } = { hasGroups: false, groupEnd: null };

  async function runGroup(): Promise<void> {
    let end = (): void => undefined;
    state.groupEnd = new Promise((resolve) => {
      end = resolve;
    });
    try {
      await Promise.allSettled(shared);
      // Work that arrives at the same time belongs to this group.
      await nextTurn();
      const group = takeGroup(waiting);
      await Promise.all(group.map((waiter) => waiter.run(group.length)));
    } finally {
      state.groupEnd = null;
      end();
    }
  }

  async function runGroups(): Promise<void> {
    state.hasGroups = true;
    while (waiting.length > 0) {
      await runGroup();
      await nextTurn();
    }
    state.hasGroups = false;
  }

  return {
    /** Returns true while a group runs: other work would wait for its end. */
    isExclusive: () => state.groupEnd !== null,

    /** Runs work concurrently with other work. Rejects as the work does. */
    async runShared<Result>(work: () => Promise<Result>): Promise<Result> {
      while (state.groupEnd !== null) await state.groupEnd;
      const running = work();
      shared.add(running);
      try {
        return await running;
      } finally {
        shared.delete(running);
      }
    },

    /**
     * Runs work exclusively, in a group of at most `limit` pieces of work; `work` is passed the size of the group. Rejects
     * as the work does.
     */
    runExclusive<Result>(limit: number, work: (groupSize: number) => Promise<Result>): Promise<Result> {
      return new Promise((resolve, reject) => {
        waiting.push({ limit, run: (groupSize) => work(groupSize).then(resolve, reject) });
        if (!state.hasGroups) runGroups().catch(reject);
      });
    },
  };
}

/** Decides which work of a process runs concurrently. */
export type Isolation = ReturnType<typeof createIsolation>;

/**
 * Removes half of the waiting work, or what its limit allows: first the work with the largest limit, which crashed
 * least.
 */
function takeGroup(waiting: Waiting[]): Waiting[] {
  waiting.sort((one, other) => other.limit - one.limit);
  const size = Math.max(1, Math.min(waiting[0]?.limit ?? 1, Math.ceil(waiting.length / 2)));
  const end = waiting.findIndex(({ limit }, index) => index === size || (index > 0 && limit < size));
  return waiting.splice(0, end === -1 ? waiting.length : end);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * Lets work go on side by side, or alone: what is to be alone waits until everything else has ended, and nothing else
 * begins until it has. Between two that are to be alone, what waited meanwhile gets its turn.
 */
export function createIsolation() {
  /** Everything that goes on side by side. */
  const beside = new Set<Promise<unknown>>();
  /** The end of the last one that is to be alone. */
  let line: Promise<unknown> = Promise.resolve();
  /** The end of the one that is alone, or waits for the others to end; null when there is none. */
  const state: { lone: Promise<void> | null } = { lone: null };

  return {
    /** Does work beside other work. Rejects as the work does. */
    async beside<Result>(work: () => Promise<Result>): Promise<Result> {
      while (state.lone !== null) await state.lone;
      const running = work();
      beside.add(running);
      try {
        return await running;
      } finally {
        beside.delete(running);
      }
    },

    /** Does work while nothing else goes on. Rejects as the work does. */
    alone<Result>(work: () => Promise<Result>): Promise<Result> {
      const turn = line.then(async () => {
        let end = (): void => undefined;
        state.lone = new Promise((resolve) => {
          end = resolve;
        });
        try {
          await Promise.allSettled(beside);
          return await work();
        } finally {
          state.lone = null;
          end();
        }
      });
      // The next one comes after it, however it ends, and after what waited for it has begun.
      line = turn.then(nextTurn, nextTurn);
      return turn;
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

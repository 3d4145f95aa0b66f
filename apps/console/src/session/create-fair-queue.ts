/** A request for a place in the queue. */
export interface QueueEntry {
  /** Whose place it is, as an address. One source cannot hold all places. */
  source: string;
  /** Entries with a lower rank run first, and of one rank the newest: a flood delays itself and not who comes after it. */
  rank: number;
}

/** Runs what waits one at a time, in the order of rank. */
export interface FairQueue {
  /**
   * Waits for this entry's turn, and resolves with a function that ends it. Resolves with null where the entry gets no
   * place: its source holds its share, or the queue is full of entries with a lower rank. It can also lose its place later,
   * to an entry that runs before it.
   */
  enter(entry: QueueEntry): Promise<(() => void) | null>;
  /** True when nothing runs or waits. */
  isIdle(): boolean;
}

interface WaitingEntry extends QueueEntry {
  resolve: (end: (() => void) | null) => void;
}

/** Makes a queue with this many waiting places in all, and for one source. */
export function createFairQueue({ places, perSource }: { places: number; perSource: number }): FairQueue {
  let isRunning = false;
  const waiting: WaitingEntry[] = [];

  function runNext(): void {
    const next = waiting.shift();
    isRunning = next !== undefined;
    next?.resolve(endOnce());
  }

  function endOnce(): () => void {
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      runNext();
    };
  }

  /** Inserts before the entries of the same rank; the last entry of a queue that is too long loses its place. */
  function insert(entry: WaitingEntry): void {
    const at = waiting.findIndex(({ rank }) => rank >= entry.rank);
    waiting.splice(at === -1 ? waiting.length : at, 0, entry);
    if (waiting.length > places) waiting.pop()?.resolve(null);
  }

  return {
    enter(entry) {
      if (!isRunning) {
        isRunning = true;
        return Promise.resolve(endOnce());
      }
      if (waiting.filter(({ source }) => source === entry.source).length >= perSource) return Promise.resolve(null);
      return new Promise((resolve) => insert({ ...entry, resolve }));
    },
    isIdle: () => !isRunning,
  };
}

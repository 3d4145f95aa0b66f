/** Tries that one receiver may have on their way in this process. */
const MAX_A_RECEIVER = 100;
/** A receiver that takes longer than this for a try is slow until that try is over. */
const SLOW_MS = 250;

/** A try that is counted in. */
export interface CountedTry {
  /** True when the receiver is slow right now: nobody should wait for it. */
  isSlow: boolean;
  /** Counts the try out. To be called once. */
  leave(): void;
}

/**
 * Knows the tries on their way by receiver (the origin of its URL), so that one that is slow and has much to get cannot
 * take the places, the sockets and the memory of the others.
 */
export function createReceiverLoad(maxAReceiver = MAX_A_RECEIVER) {
  const begun = new Map<string, Set<{ at: number }>>();
  return {
    /** Counts a try in; null when its receiver has enough of them on their way. */
    enter(url: string): CountedTry | null {
      const { origin } = new URL(url);
      const own = begun.get(origin) ?? new Set();
      if (own.size >= maxAReceiver) return null;
      const now = performance.now();
      // In the order of their beginning: the first one is the oldest.
      const [oldest] = own;
      const isSlow = oldest !== undefined && now - oldest.at > SLOW_MS;
      const entry = { at: now };
      own.add(entry);
      begun.set(origin, own);
      return {
        isSlow,
        leave() {
          own.delete(entry);
          if (own.size === 0 && begun.get(origin) === own) begun.delete(origin);
        },
      };
    },
  };
}

/** Tries that one receiver may have on their way in this process, and all of them together. */
const LIMITS = { aReceiver: 100, all: 500 };
/** So many times as much may be on its way when each further try is the only one of its receiver. */
const OVERFLOW = 2;
/** A receiver that takes longer than this for a try is slow until that try is over. */
const SLOW_MS = 250;
/** How long a callback waits at least and at most whose receiver has enough on its way. */
const WAIT_MIN_MS = 1_000;
const WAIT_MAX_MS = 120_000;
/** A receiver that answers nothing gets through so many milliseconds of waiting for each full load. */
const FULL_LOAD_MS = 15_000;

/** A try that is counted in. */
export interface CountedTry {
  /** True when the receiver is slow right now: nobody should wait for it. */
  isSlow: boolean;
  /** Counts the try out. To be called once. */
  leave(): void;
}

/** A try that has to wait: its receiver, or this process, has enough on its way. */
export interface RefusedTry {
  waitMs: number;
}

interface Receiver {
  /** When each of its tries began, the oldest first. */
  begun: Set<{ at: number }>;
  /** Attempts delayed since one of this receiver last ended in time. */
  refused: number;
}

/**
 * Knows the tries on their way by receiver (the origin of its URL), so that one that is slow and has much to get cannot
 * take the places, the sockets and the memory of the others. The more attempts wait, the longer each is delayed, so
 * that a receiver that hangs costs no more work the more it should get.
 */
export function createReceiverLoad(limits = LIMITS) {
  const receivers = new Map<string, Receiver>();
  let count = 0;

  function refuse(receiver: Receiver): RefusedTry {
    receiver.refused++;
    const loads = receiver.refused / limits.aReceiver;
    return { waitMs: Math.min(Math.max(loads * FULL_LOAD_MS, WAIT_MIN_MS), WAIT_MAX_MS) };
  }

  return {
    /** Counts a try in, or says how long it has to wait. */
    enter(url: string): CountedTry | RefusedTry {
      const { origin } = new URL(url);
      const receiver = receivers.get(origin) ?? { begun: new Set(), refused: 0 };
      if (receiver.begun.size >= limits.aReceiver) return refuse(receiver);
      // A receiver with nothing on its way is let in even then, so that a few that hang do not keep all others waiting.
      const isFull = count >= limits.all && (receiver.begun.size > 0 || count >= limits.all * OVERFLOW);
      if (isFull) return { waitMs: WAIT_MIN_MS };
      const now = performance.now();
      const [oldest] = receiver.begun;
      const isSlow = oldest !== undefined && now - oldest.at > SLOW_MS;
      const entry = { at: now };
      receiver.begun.add(entry);
      receivers.set(origin, receiver);
      count++;
      return {
        isSlow,
        leave() {
          count--;
          receiver.begun.delete(entry);
          if (performance.now() - entry.at <= SLOW_MS) receiver.refused = 0;
          if (receiver.begun.size === 0 && receivers.get(origin) === receiver) receivers.delete(origin);
        },
      };
    },
  };
}

/** Counts attempts by receiver. */
export type ReceiverLoad = ReturnType<typeof createReceiverLoad>;

/** Attempts that one receiver may have in progress in this process, those that may wait for a turn, and all in progress. */
const LIMITS = { aReceiver: 100, waiting: 400, all: 500 };
/** So many times as many may be in progress if each further one is the only one of its receiver. */
const OVERFLOW = 2;
/** A receiver is slow while a request to it takes longer than this, which is more than a busy process adds to it. */
const SLOW_MS = 1_000;
/** How long an attempt waits for its turn if its receiver is not slow. Its lease, which lasts longer, is renewed then. */
const TURN_MS = 5_000;
/** Minimum and maximum delay of a callback whose receiver has enough in progress. */
const DELAY_MIN_MS = 1_000;
const DELAY_MAX_MS = 120_000;
/** A receiver that never responds gets this many milliseconds of delay for each full load. */
const FULL_LOAD_MS = 15_000;

/** An attempt that is counted in. */
export interface CountedTry {
  /** True if the receiver is slow right now: nobody should wait for it. */
  isSlow: boolean;
  /** Makes the request of the attempt; its duration decides whether the receiver is slow. */
  send: <Response>(request: () => Promise<Response>) => Promise<Response>;
  /** Counts the attempt out. To be called once. */
  leave(): void;
}

/** An attempt that is delayed: its receiver, or this process, has enough in progress. */
export interface RefusedTry {
  waitMs: number;
}

interface Receiver {
  /** Its attempts in progress. */
  count: number;
  /** When each of its requests began, the oldest first. */
  sent: Set<{ at: number }>;
  /** Gives a turn to the attempts that wait for one, the oldest first. */
  waiting: Set<() => void>;
  /** Attempts delayed since a request to this receiver last ended in time. */
  refused: number;
}

const newReceiver = (): Receiver => ({ count: 0, sent: new Set(), waiting: new Set(), refused: 0 });

function isSlow({ sent }: Receiver): boolean {
  const [oldest] = sent;
  return oldest !== undefined && performance.now() - oldest.at > SLOW_MS;
}

/** Resolves to the attempt once its turn comes, or to null if it does not come soon. */
const waitForTurn = ({ waiting }: Receiver, countIn: () => CountedTry) =>
  new Promise<CountedTry | null>((resolve) => {
    const giveTurn = () => {
      end();
      resolve(countIn());
    };
    const timer = setTimeout(() => {
      end();
      resolve(null);
    }, TURN_MS);
    function end() {
      clearTimeout(timer);
      waiting.delete(giveTurn);
    }
    waiting.add(giveTurn);
  });

/** Delays an attempt, by the longer the more attempts to its receiver are delayed. */
function refuse(receiver: Receiver, { aReceiver }: typeof LIMITS): RefusedTry {
  receiver.refused++;
  const loads = receiver.refused / aReceiver;
  return { waitMs: Math.min(Math.max(loads * FULL_LOAD_MS, DELAY_MIN_MS), DELAY_MAX_MS) };
}

/**
 * Knows the attempts in progress by receiver (the origin of its URL), so that one that is slow and has many callbacks
 * waiting cannot take the slots, the sockets and the memory of the others. A receiver that responds in time is waited
 * for, so that a burst arrives as fast as it can be sent. The more attempts of a slow one wait, the longer each is
 * delayed, so that a receiver that never responds costs no more work the more it should get.
 */
export function createReceiverLoad(limits = LIMITS) {
  const receivers = new Map<string, Receiver>();
  let total = 0;

  function countIn(origin: string, receiver: Receiver): CountedTry {
    receivers.set(origin, receiver);
    receiver.count++;
    total++;
    return {
      isSlow: isSlow(receiver),
      async send(request) {
        const entry = { at: performance.now() };
        receiver.sent.add(entry);
        try {
          return await request();
        } finally {
          receiver.sent.delete(entry);
          if (performance.now() - entry.at <= SLOW_MS) receiver.refused = 0;
        }
      },
      leave() {
        receiver.count--;
        total--;
        const [giveTurn] = receiver.waiting;
        giveTurn?.();
        if (receiver.count === 0) receivers.delete(origin);
      },
    };
  }

  return {
    /** Counts an attempt in, at once or when its turn comes, or tells how long it is to be delayed. */
    async enter(url: string): Promise<CountedTry | RefusedTry> {
      const { origin } = new URL(url);
      const receiver = receivers.get(origin) ?? newReceiver();
      if (receiver.count >= limits.aReceiver) {
        const mayWait = receiver.waiting.size < limits.waiting && !isSlow(receiver);
        return (
          (mayWait ? await waitForTurn(receiver, () => countIn(origin, receiver)) : null) ?? refuse(receiver, limits)
        );
      }
      // A receiver with nothing in progress is let in even then, so that a few that hang do not keep all others waiting.
      const isFull = total >= limits.all && (receiver.count > 0 || total >= limits.all * OVERFLOW);
      return isFull ? { waitMs: DELAY_MIN_MS } : countIn(origin, receiver);
    },
  };
}

/** Counts attempts by receiver. */
export type ReceiverLoad = ReturnType<typeof createReceiverLoad>;

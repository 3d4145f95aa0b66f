/**
 * Maximum number of attempts in progress per receiver, of attempts waiting for a turn per receiver, and of all in
 * progress in this process.
 */
const LIMITS = { aReceiver: 100, waiting: 400, all: 500 };
/** Factor by which the total may be exceeded by receivers with only one attempt. */
const OVERFLOW = 2;
/** Duration of a request from which its receiver is slow. Longer than the delays of a busy process. */
const SLOW_MS = 1_000;
/**
 * Time that an attempt waits for its turn if its receiver is not slow. Its lease is longer, and renewed afterwards.
 */
const TURN_MS = 5_000;
/** Minimum and maximum delay of a callback whose receiver, or this process, is at its limit. */
const DELAY_MIN_MS = 1_000;
const DELAY_MAX_MS = 120_000;
/** Additional delay for each full load of waiting attempts of a receiver that never responds, in milliseconds. */
const FULL_LOAD_MS = 15_000;
/** Additional delay for each attempt that is more than may wait for a receiver that responds: about the time to send one. */
const SEND_MS = 1;

/** An attempt that may be sent. */
export interface AdmittedAttempt {
  /** True if the receiver is slow at the moment, so that its attempts should not be waited for. */
  isSlow: boolean;
  /** Sends the attempt's request, whose duration decides whether the receiver is slow. */
  send: <Response>(request: () => Promise<Response>) => Promise<Response>;
  /** Ends the attempt. Must be called once. */
  leave(): void;
}

/** A delayed attempt: its receiver, or this process, is at its limit. */
export interface DelayedAttempt {
  waitMs: number;
}

interface Receiver {
  /** Number of attempts in progress. */
  count: number;
  /** Start times of requests in progress, the oldest first. */
  sent: Set<{ at: number }>;
  /** Functions that start waiting attempts, the oldest first. */
  waiting: Set<() => void>;
  /** Number of attempts delayed because it is slow since a request to it last ended in time. */
  delayed: number;
  /** Number of attempts delayed because too many waited since none waited last. */
  beyond: number;
}

const newReceiver = (): Receiver => ({ count: 0, sent: new Set(), waiting: new Set(), delayed: 0, beyond: 0 });

function isSlow({ sent }: Receiver): boolean {
  const [oldest] = sent;
  return oldest !== undefined && performance.now() - oldest.at > SLOW_MS;
}

/** Resolves to the attempt once its turn comes, or to null if it does not come in time. */
const waitForTurn = ({ waiting }: Receiver, countIn: () => AdmittedAttempt) =>
  new Promise<AdmittedAttempt | null>((resolve) => {
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

/**
 * Delays an attempt; the more attempts to its receiver are delayed, the longer. If the receiver is not slow, there are
 * more than this process can send, which says nothing about the receiver.
 */
function delay(receiver: Receiver, { aReceiver }: typeof LIMITS): DelayedAttempt {
  const wanted = isSlow(receiver) ? (++receiver.delayed / aReceiver) * FULL_LOAD_MS : ++receiver.beyond * SEND_MS;
  return { waitMs: Math.min(Math.max(wanted, DELAY_MIN_MS), DELAY_MAX_MS) };
}

/**
 * Limits the attempts in progress by receiver (the origin of its URL), so that a slow one with many callbacks cannot
 * occupy the slots, sockets and memory of the others. Attempts wait for a receiver that responds in time, so that a
 * burst is sent as fast as possible; attempts beyond that limit are delayed by a second for each thousand of them. The
 * more attempts of a slow receiver wait, the longer each is delayed, so that a receiver that never responds causes no
 * more work the more callbacks it has.
 */
export function createReceiverLoad(limits = LIMITS) {
  const receivers = new Map<string, Receiver>();
  let total = 0;

  function countIn(origin: string, receiver: Receiver): AdmittedAttempt {
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
          if (performance.now() - entry.at <= SLOW_MS) receiver.delayed = 0;
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
    /** Starts an attempt, immediately or when its turn comes, or returns its delay. */
    async enter(url: string): Promise<AdmittedAttempt | DelayedAttempt> {
      const { origin } = new URL(url);
      const receiver = receivers.get(origin) ?? newReceiver();
      if (receiver.count >= limits.aReceiver) {
        if (receiver.waiting.size === 0) receiver.beyond = 0;
        const mayWait = receiver.waiting.size < limits.waiting && !isSlow(receiver);
        return (
          (mayWait ? await waitForTurn(receiver, () => countIn(origin, receiver)) : null) ?? delay(receiver, limits)
        );
      }
      // A receiver without attempts in progress may exceed the limit, so that others that hang do not block it.
      const isFull = total >= limits.all && (receiver.count > 0 || total >= limits.all * OVERFLOW);
      return isFull ? { waitMs: DELAY_MIN_MS } : countIn(origin, receiver);
    },
  };
}

/** Limits of attempts by receiver. */
export type ReceiverLoad = ReturnType<typeof createReceiverLoad>;

/** Circuit breaker: stops calls that fail repeatedly. */
export interface Breaker {
  /** Returns true if a call is allowed now. After a pause, one call is allowed, and the others wait for its result. */
  allows(): boolean;
  succeed(): void;
  fail(reason: string): void;
  /** Returns the reason of the current pause; null if there is none. */
  restReason(): string | null;
}

/**
 * Creates a circuit breaker: after `maxFailures` consecutive failures it blocks calls for `restMs`, then allows one,
 * and so on until one succeeds. Calls `onOpen` for the first pause, with the reason of the last failure, and `onClose`
 * for the success that ends it.
 */
export function createBreaker(options: {
  maxFailures: number;
  restMs: number;
  onOpen: (reason: string) => void;
  onClose: () => void;
}): Breaker {
  const { maxFailures, restMs, onOpen, onClose } = options;
  let failures = 0;
  let restsUntil = 0;
  let lastReason = "";
  const isOpen = () => failures >= maxFailures;

  return {
    allows() {
      if (!isOpen()) return true;
      if (performance.now() < restsUntil) return false;
      restsUntil = performance.now() + restMs;
      return true;
    },
    succeed() {
      const wasOpen = isOpen();
      failures = 0;
      if (wasOpen) onClose();
    },
    fail(reason) {
      failures += 1;
      lastReason = reason;
      if (!isOpen()) return;
      restsUntil = performance.now() + restMs;
      if (failures === maxFailures) onOpen(reason);
    },
    restReason: () => (isOpen() ? lastReason : null),
  };
}

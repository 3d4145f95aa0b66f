/** Keeps from asking something that fails again and again. */
export interface Breaker {
  /** Whether it may be asked now. After a rest one call may try; the others wait for what becomes of that. */
  allows(): boolean;
  succeed(): void;
  fail(reason: string): void;
  /** Why nothing is asked at present; null while all is well. */
  restReason(): string | null;
}

/**
 * Makes a breaker: after `maxFailures` failures in a row nothing is asked for `restMs`, then once, and so on until it
 * succeeds. `onOpen` hears of the first rest, with the reason of the last failure; `onClose` of the success that ends it.
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

/** Tries that one receiver may have on their way in this process. */
const MAX_A_RECEIVER = 100;

/**
 * Counts the tries on their way by receiver (the origin of its URL), so that one that is slow and has much to get
 * cannot take the sockets and the memory of the others.
 */
export function createReceiverLoad(maxAReceiver = MAX_A_RECEIVER) {
  const counts = new Map<string, number>();
  return {
    /** Counts a try in; null when its receiver has enough of them. The answer counts it out, once. */
    enter(url: string): (() => void) | null {
      const { origin } = new URL(url);
      const count = counts.get(origin) ?? 0;
      if (count >= maxAReceiver) return null;
      counts.set(origin, count + 1);
      return () => {
        const left = (counts.get(origin) ?? 1) - 1;
        if (left === 0) counts.delete(origin);
        else counts.set(origin, left);
      };
    },
  };
}

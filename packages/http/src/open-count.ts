/** Counts what is open in this process, by name. */
export interface OpenCount {
  /**
   * Opens one more under this name. Returns the function that closes it, which is safe to call twice; null where `limit`
   * are open already.
   */
  open(name: string, limit: number): (() => void) | null;
}

/** Makes a count of what is open, as long polls by key and address. */
export function createOpenCount(): OpenCount {
  const counts = new Map<string, number>();
  return {
    open(name, limit) {
      const count = counts.get(name) ?? 0;
      if (count >= limit) return null;
      counts.set(name, count + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        const left = (counts.get(name) ?? 1) - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      };
    },
  };
}

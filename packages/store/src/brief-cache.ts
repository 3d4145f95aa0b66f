/** Most entries that are remembered at once. */
const MAX_ENTRIES = 2_000;

/**
 * Remembers what a look-up found for a short time; concurrent look-ups of one name are one. Misses and faults are not
 * remembered, so that a flood of unknown names cannot push known ones out.
 */
export function createBriefCache<Value>(lifetimeMs: number) {
  const entries = new Map<string, { until: number; value: Promise<Value | null> }>();

  return {
    async get(name: string, find: () => Promise<Value | null>): Promise<Value | null> {
      const known = entries.get(name);
      if (known !== undefined && known.until > performance.now()) return known.value;
      const value = find();
      if (entries.size >= MAX_ENTRIES) entries.clear();
      const entry = { until: performance.now() + lifetimeMs, value };
      entries.set(name, entry);
      const forget = () => {
        if (entries.get(name) === entry) entries.delete(name);
      };
      try {
        const found = await value;
        if (found === null) forget();
        return found;
      } catch (error) {
        forget();
        throw error;
      }
    },
  };
}

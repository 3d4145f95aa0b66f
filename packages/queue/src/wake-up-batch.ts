/**
 * Collects the ids of one turn of the event loop, so that many wake-ups cost one message. `flush` gets at most
 * `maxIds` ids a call.
 */
export function createWakeUpBatch(flush: (topic: string, ids: string[]) => void, maxIds: number) {
  const waiting = new Map<string, Set<string>>();
  let armed = false;

  function flushAll(): void {
    armed = false;
    for (const [topic, ids] of waiting) {
      const all = [...ids];
      for (let start = 0; start < all.length; start += maxIds) flush(topic, all.slice(start, start + maxIds));
    }
    waiting.clear();
  }

  return (topic: string, ids: string[]): void => {
    const collected = waiting.get(topic) ?? new Set();
    for (const id of ids) collected.add(id);
    waiting.set(topic, collected);
    if (armed) return;
    armed = true;
    setImmediate(flushAll);
  };
}

/** The listeners of a process by topic. */
export function createListeners() {
  const byTopic = new Map<string, Set<(ids: string[]) => void>>();
  return {
    add(topic: string, look: (ids: string[]) => void): () => void {
      const own = byTopic.get(topic) ?? new Set();
      own.add(look);
      byTopic.set(topic, own);
      return () => own.delete(look);
    },
    call(topic: string, ids: string[]): void {
      for (const look of byTopic.get(topic) ?? []) look(ids);
    },
  };
}

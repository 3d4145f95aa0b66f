/** Limits of one message of a backend. */
export interface MessageLimits {
  maxIds: number;
  /** Total length of all ids, each with a separator. */
  maxChars: number;
}

/** Splits ids into parts that fit into one message each. */
function split(ids: Iterable<string>, { maxIds, maxChars }: MessageLimits): string[][] {
  const parts: string[][] = [];
  let chars = Infinity;
  for (const id of ids) {
    const last = parts.at(-1);
    if (last === undefined || last.length === maxIds || chars + id.length + 1 > maxChars) {
      parts.push([id]);
      chars = id.length + 1;
    } else {
      last.push(id);
      chars += id.length + 1;
    }
  }
  return parts;
}

/**
 * Collects the ids of one turn of the event loop, so that many wake-ups cost one message. Each call of `flush` is
 * within `limits`.
 */
export function createWakeUpBatch(flush: (topic: string, ids: string[]) => void, limits: MessageLimits) {
  const waiting = new Map<string, Set<string>>();
  let armed = false;

  function flushAll(): void {
    armed = false;
    for (const [topic, ids] of waiting) for (const part of split(ids, limits)) flush(topic, part);
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
    add(topic: string, wake: (ids: string[]) => void): () => void {
      const own = byTopic.get(topic) ?? new Set();
      own.add(wake);
      byTopic.set(topic, own);
      return () => own.delete(wake);
    },
    call(topic: string, ids: string[]): void {
      for (const wake of byTopic.get(topic) ?? []) wake(ids);
    },
  };
}

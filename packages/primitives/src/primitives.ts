const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns true if an untrusted value is an object and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns true if a text is a UUID of any version. PostgreSQL rejects other text as an ID. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * Returns true if JSON is nested deeper than `maxLevels`. Iterates without recursion, so that depth cannot exhaust the
 * stack.
 */
export function isDeeperThan(value: unknown, maxLevels: number): boolean {
  const open: [value: unknown, level: number][] = [[value, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [current, level] = next;
    if (typeof current !== "object" || current === null) continue;
    if (level > maxLevels) return true;
    for (const child of Object.values(current)) open.push([child, level + 1]);
  }
  return false;
}

/**
 * Returns the code of a thrown value, such as "ENOENT" of Node.js or "23505" of PostgreSQL, or undefined if it has none.
 * Errors of other realms (`node:vm`) have codes as well.
 */
export function errorCode(error: unknown): string | undefined {
  const code: unknown = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** Returns the message of a thrown value, or the value as text if it is not an error. */
export function errorMessage(error: unknown): string {
  const isError = typeof error === "object" && error !== null && "message" in error;
  return String(isError ? error.message : error);
}

/** Returns a thrown value itself if it is an error, else an error with the value as its message. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/**
 * Resolves to the result of the promise, or to undefined after `limitMs`. Rejects if the promise rejects before that; a
 * later rejection is ignored.
 */
export async function withinMs<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limitMs, undefined);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs work as soon as a slot is free. */
export interface Gate {
  /** Waiting work with the lowest priority value (0 by default) starts first; of equal values, what has waited longest. */
  <Result>(work: () => Promise<Result>, priority?: number): Promise<Result>;
  /** Changes the number of slots, at least 1; running work ends as it would have. */
  resize(slots: number): void;
}

/** Creates a gate with this number of slots. */
export function createGate(slots: number): Gate {
  const waiting: { priority: number; start: () => void }[] = [];
  let most = slots;
  let running = 0;
  function admit(): void {
    for (; running < most && waiting.length > 0; running++) waiting.shift()?.start();
  }
  function wait(priority: number): Promise<void> {
    return new Promise((start) => {
      const index = waiting.findLastIndex((one) => one.priority <= priority) + 1;
      waiting.splice(index, 0, { priority, start });
    });
  }
  async function run<Result>(work: () => Promise<Result>, priority = 0): Promise<Result> {
    if (running < most) running++;
    else await wait(priority);
    try {
      return await work();
    } finally {
      running--;
      admit();
    }
  }
  return Object.assign(run, {
    resize(wanted: number) {
      most = Math.max(1, Math.floor(wanted));
      admit();
    },
  });
}

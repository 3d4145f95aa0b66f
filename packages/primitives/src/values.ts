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

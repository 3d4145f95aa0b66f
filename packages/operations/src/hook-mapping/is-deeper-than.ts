/** True when JSON nests deeper than so many levels. Walks iteratively, so that depth cannot exhaust the stack. */
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

interface Row {
  id: string;
}

/**
 * By how many places the rows from `first` to `last` of a list stand lower in the list as it is now; below zero where
 * they stand higher. Most of them decide: one that has changed may have gone to the top by itself.
 */
export function rowsMoved(
  before: readonly Row[],
  { first, last }: { first: number; last: number },
  after: readonly Row[],
): number {
  const places = new Map(after.map(({ id }, index) => [id, index]));
  const votes = new Map<number, number>();
  let most = 0;
  let moved = 0;
  for (const [offset, { id }] of before.slice(first, last + 1).entries()) {
    const place = places.get(id);
    if (place === undefined) continue;
    const by = place - (first + offset);
    const count = (votes.get(by) ?? 0) + 1;
    votes.set(by, count);
    if (count > most || (count === most && Math.abs(by) < Math.abs(moved))) {
      most = count;
      moved = by;
    }
  }
  return moved;
}

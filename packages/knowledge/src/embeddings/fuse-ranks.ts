/** What the first ranks count against the further ones (Cormack, Clarke and Büttcher, SIGIR 2009). */
const RANK_CONSTANT = 60;

const worthOf = (rank: number) => 1 / (RANK_CONSTANT + rank + 1);

/**
 * Puts two orders together by reciprocal rank: the best of `byWords` and the best of `byMeaning`, best first. What has no
 * embedding yet (`hasMeaning` is false) is taken to mean as much as its words say, so that a new document does not fall
 * behind. Among equals the one with the better rank by words comes first.
 */
export function fuseRanks(
  byWords: readonly string[],
  byMeaning: readonly string[],
  hasMeaning: (id: string) => boolean,
): string[] {
  const worths = new Map<string, number>();
  const add = (id: string, worth: number) => worths.set(id, (worths.get(id) ?? 0) + worth);
  for (const [rank, id] of byWords.entries()) add(id, worthOf(rank) * (hasMeaning(id) ? 1 : 2));
  for (const [rank, id] of byMeaning.entries()) add(id, worthOf(rank));
  // The sort is stable, and what was found by words was noted first.
  return [...worths].sort(([, a], [, b]) => b - a).map(([id]) => id);
}

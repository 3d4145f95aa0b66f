const pairsOf = (name: string): Set<string> => {
  const text = ` ${name.toLowerCase()} `;
  return new Set(Array.from({ length: text.length - 1 }, (_, place) => text.slice(place, place + 2)));
};

/** Names below this likeness have nothing to do with what was written, nor has one that is much less like it than another. */
const LEAST_LIKENESS = 0.3;
const LEAST_OF_BEST = 0.6;

const MOST = 3;

/** Of the names there are, up to three that somebody may have meant, the likeliest first (Dice over pairs of letters). */
export function suggestNames(written: string, names: Iterable<string>): string[] {
  const pairs = pairsOf(written);
  const likenessOf = (name: string): number => {
    const other = pairsOf(name);
    let same = 0;
    for (const pair of other) if (pairs.has(pair)) same += 1;
    return (2 * same) / (pairs.size + other.size);
  };
  const rated = [...new Set(names)].map((name) => ({ name, likeness: likenessOf(name) }));
  const best = rated.reduce((most, { likeness }) => Math.max(most, likeness), 0);
  return rated
    .filter(({ likeness }) => likeness >= Math.max(LEAST_LIKENESS, best * LEAST_OF_BEST))
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, MOST)
    .map(({ name }) => name);
}

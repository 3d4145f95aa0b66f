// Measures of information retrieval and classification, as the papers define them.

export const mean = (numbers) =>
  numbers.length === 0 ? null : numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

export const share = (items, isOne) => mean(items.map((item) => (isOne(item) ? 1 : 0)));

/** Chance that one of `highs` is above one of `lows`; ties count half. */
export function auroc(highs, lows) {
  if (highs.length === 0 || lows.length === 0) return null;
  const all = [...highs.map((value) => ({ value, isHigh: true })), ...lows.map((value) => ({ value, isHigh: false }))];
  all.sort((a, b) => a.value - b.value);
  let rankSum = 0;
  for (let from = 0; from < all.length;) {
    let to = from;
    while (to < all.length && all[to].value === all[from].value) to += 1;
    rankSum += all.slice(from, to).filter(({ isHigh }) => isHigh).length * ((from + 1 + to) / 2);
    from = to;
  }
  return (rankSum - (highs.length * (highs.length + 1)) / 2) / (highs.length * lows.length);
}

/** The share of `lows` below the score that the share `kept` of `highs` reaches. */
export function rejectedAt(highs, lows, kept) {
  if (highs.length === 0 || lows.length === 0) return null;
  const sorted = highs.toSorted((a, b) => a - b);
  const threshold = sorted[Math.floor(sorted.length * (1 - kept))];
  return share(lows, (low) => low < threshold);
}

/** Measures of ranked documents; `relevant` is the grade of each relevant document. Queries without any are left out. */
export function rankingScores(rows) {
  const counted = rows
    .map(({ relevant, ranked }) => ({
      grades: new Map(Object.entries(relevant ?? {}).filter(([, grade]) => grade > 0)),
      ranked: [...new Set((ranked ?? []).map(String))].slice(0, 100),
    }))
    .filter(({ grades }) => grades.size > 0);
  const hitsIn = ({ grades, ranked }, depth) => ranked.slice(0, depth).filter((id) => grades.has(id)).length;
  const over = (measure) => mean(counted.map(measure));
  const firstOf = ({ grades, ranked }) => ranked.findIndex((id) => grades.has(id)) + 1;
  return {
    queries: counted.length,
    ndcg10: over(ndcg10),
    recall5: over((row) => hitsIn(row, 5) / row.grades.size),
    recall10: over((row) => hitsIn(row, 10) / row.grades.size),
    recall100: over((row) => hitsIn(row, 100) / row.grades.size),
    mrr10: over((row) => (firstOf(row) > 0 && firstOf(row) <= 10 ? 1 / firstOf(row) : 0)),
    hit1: over((row) => (firstOf(row) === 1 ? 1 : 0)),
    map: over(averagePrecision),
    p5: over((row) => hitsIn(row, 5) / 5),
  };
}

function ndcg10({ grades, ranked }) {
  const gain = (list) => list.slice(0, 10).reduce((sum, grade, place) => sum + grade / Math.log2(place + 2), 0);
  return gain(ranked.map((id) => grades.get(id) ?? 0)) / gain([...grades.values()].sort((a, b) => b - a));
}

function averagePrecision({ grades, ranked }) {
  let hits = 0;
  const precisions = ranked.map((id, place) => (grades.has(id) ? (hits += 1) / (place + 1) : 0));
  return precisions.reduce((sum, precision) => sum + precision, 0) / grades.size;
}

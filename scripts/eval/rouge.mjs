// ROUGE (Lin 2004) with Porter's stemmer: how much of the words of two texts is the same. F1 of each.
import { porterStem } from "./porter-stem.mjs";

const stemsOf = (text) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(porterStem);

const f1 = (hits, predicted, expected) => (hits === 0 ? 0 : (2 * hits) / (predicted + expected));

export const rouge = {
  one: (text, reference) => rougeOf(stemsOf(text), stemsOf(reference)),
  two: (text, reference) => rougeOf(pairsOf(stemsOf(text)), pairsOf(stemsOf(reference))),
  longest: (text, reference) => {
    const [stems, expected] = [stemsOf(text), stemsOf(reference)];
    return f1(longestCommon(stems, expected), stems.length, expected.length);
  },
};

function rougeOf(predicted, expected) {
  const left = new Map();
  for (const gram of expected) left.set(gram, (left.get(gram) ?? 0) + 1);
  const hits = predicted.filter((gram) => {
    const count = left.get(gram) ?? 0;
    left.set(gram, count - 1);
    return count > 0;
  });
  return f1(hits.length, predicted.length, expected.length);
}

const pairsOf = (stems) => stems.slice(1).map((stem, index) => `${stems[index]} ${stem}`);

/** Length of the longest sequence that both have in this order. */
function longestCommon(one, other) {
  let row = Array.from({ length: other.length + 1 }, () => 0);
  for (const stem of one) {
    const next = [0];
    for (let place = 0; place < other.length; place += 1) {
      next.push(stem === other[place] ? row[place] + 1 : Math.max(row[place + 1], next[place]));
    }
    row = next;
  }
  return row[other.length];
}

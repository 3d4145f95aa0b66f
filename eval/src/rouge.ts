// ROUGE (Lin 2004) with Porter's stemmer: how much of the words of two texts is the same. F1 of each.
import { compareTokens } from "@svc/text";

// Porter's stemmer for English (M. F. Porter, An algorithm for suffix stripping, 1980).

const LONG_SUFFIXES = {
  ational: "ate", tional: "tion", enci: "ence", anci: "ance", izer: "ize", bli: "ble", alli: "al", entli: "ent",
  eli: "e", ousli: "ous", ization: "ize", ation: "ate", ator: "ate", alism: "al", iveness: "ive", fulness: "ful",
  ousness: "ous", aliti: "al", iviti: "ive", biliti: "ble", logi: "log",
}; // prettier-ignore
const MIDDLE_SUFFIXES = { icate: "ic", ative: "", alize: "al", iciti: "ic", ical: "ic", ful: "", ness: "" };
const LAST_SUFFIXES = [
  "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
  "sion", "tion", "al", "er", "ic", "ou",
]; // prettier-ignore

/** Returns vowels and consonants of a word as a string of v and c. A y after a consonant is a vowel. */
function shapeOf(word: string) {
  let shape = "";
  for (const letter of word) shape += "aeiou".includes(letter) || (letter === "y" && shape.endsWith("c")) ? "v" : "c";
  return shape;
}

/** Counts vowels that are followed by a consonant. */
const measure = (word: string) => shapeOf(word).match(/v+c/g)?.length ?? 0;
const hasVowel = (word: string) => shapeOf(word).includes("v");
const endsShort = (word: string) => shapeOf(word).endsWith("cvc") && !/[wxy]$/.test(word);

function replaceSuffix(word: string, suffixes: Record<string, string>) {
  const suffix = Object.keys(suffixes)
    .filter((ending) => word.endsWith(ending))
    .sort((a, b) => b.length - a.length)[0];
  if (suffix === undefined) return word;
  const stem = word.slice(0, -suffix.length);
  return measure(stem) > 0 ? `${stem}${suffixes[suffix]}` : word;
}

/** Returns the stem of a word in lower case. */
function porterStem(given: string): string {
  if (given.length < 3) return given;
  let word = given;
  if (/(?:ss|i)es$/.test(word)) word = word.slice(0, -2);
  else if (/[^s]s$/.test(word)) word = word.slice(0, -1);

  if (word.endsWith("eed")) {
    if (measure(word.slice(0, -3)) > 0) word = word.slice(0, -1);
  } else {
    const stem = word.replace(/(?:ed|ing)$/, "");
    if (stem !== word && hasVowel(stem)) word = mendEnd(stem);
  }
  if (word.endsWith("y") && hasVowel(word.slice(0, -1))) word = `${word.slice(0, -1)}i`;
  word = replaceSuffix(replaceSuffix(word, LONG_SUFFIXES), MIDDLE_SUFFIXES);

  const last = LAST_SUFFIXES.find((suffix) => word.endsWith(suffix));
  if (last !== undefined) {
    const stem = word.slice(0, -(last === "sion" || last === "tion" ? 3 : last.length));
    if (measure(stem) > 1) word = stem;
  }
  if (word.endsWith("e")) {
    const stem = word.slice(0, -1);
    if (measure(stem) > 1 || (measure(stem) === 1 && !endsShort(stem))) word = stem;
  }
  return word.endsWith("ll") && measure(word) > 1 ? word.slice(0, -1) : word;
}

function mendEnd(stem: string) {
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

const stemsOf = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(porterStem);
const pairsOf = (stems: readonly string[]) => stems.slice(1).map((stem, index) => `${stems[index]} ${stem}`);

export const rouge = {
  one: (text: string, reference: string) => compareTokens(stemsOf(text), stemsOf(reference)).f1,
  two: (text: string, reference: string) => compareTokens(pairsOf(stemsOf(text)), pairsOf(stemsOf(reference))).f1,
  longest: (text: string, reference: string) => compareTokens(stemsOf(text), stemsOf(reference)).rougeL,
};

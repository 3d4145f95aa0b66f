import { createRequire } from "node:module";
import type * as Tinyld from "tinyld";
import { functionWordWeights, primaryLanguage } from "./language-data.ts";
import { tokenize } from "./tokenize.ts";

/** A guess at the language of a text. */
type DetectedLanguage = {
  /** ISO 639-1; Norwegian in either form is `no`. */
  readonly language: string;
  /**
   * From 0 to 1. From 0.5 the text itself identifies the language; below, nothing in it was clear and `language` is the
   * hint, or `en` without one.
   */
  readonly confidence: number;
};

const require = createRequire(import.meta.url);
let tinyld: typeof Tinyld | undefined;

/** Setting up its tables takes a tenth of a second, so they are loaded only when needed. */
const loadTinyld = (): typeof Tinyld => (tinyld ??= require("tinyld") as typeof Tinyld);

type Scores = Map<string, number>;

/** Enough to detect a language; longer texts are sampled in two places of half this length. */
const SAMPLE_CHARS = 1200;

/** Of all letters: a message in another script often names products in Latin letters, hardly ever the reverse. */
const LEAST_SHARE_BESIDE_LATIN = 0.3;

/**
 * Prior of the hint, and of English without one. `bonus` decides between similar languages and never against a clear
 * text; below `leastConfidence` the text does not override the prior. Measured on 390 short messages in 30 languages: a
 * high threshold for `en` would lose more German and Spanish than it saves.
 */
const EXPECTATIONS = {
  hinted: { bonus: 0.12, leastConfidence: 0.2 },
  none: { bonus: 0.06, leastConfidence: 0.1 },
} as const;

type Expected = { readonly language: string; readonly bonus: number; readonly leastConfidence: number };

/** Upper bound without a known word: n-grams alone mistake Catalan for French and Basque for Hungarian. */
const MOST_WITHOUT_WORDS = 0.45;

/**
 * The letters beyond a to z of each language that is written in Latin or Cyrillic letters: the candidates, and what
 * speaks for and against them.
 */
const LATIN_LETTERS: Readonly<Record<string, string>> = {
  ca: "àçèéíïòóúü",
  cs: "áčďéěíňóřšťúůýž",
  da: "æøåé",
  de: "äöüß",
  en: "",
  es: "áéíñóúü",
  et: "äõöüšž",
  eu: "ñ",
  fi: "äö",
  fr: "àâæçéèêëîïôœùûüÿ",
  ga: "áéíóú",
  hu: "áéíóöőúüű",
  id: "",
  it: "àèéìòù",
  lt: "ąčęėįšųūž",
  nl: "éëïóöü",
  no: "æøåéò",
  pl: "ąćęłńóśźż",
  pt: "áàâãçéêíóôõú",
  ro: "ăâîșşțţ",
  sr: "čćđšž",
  sv: "åäöé",
  tr: "çğıöşüâ",
  vi: "àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
};

const CYRILLIC_LETTERS: Readonly<Record<string, string>> = {
  be: "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
  bg: "абвгдежзийклмнопрстуфхцчшщъьюя",
  mk: "абвгдѓежзѕијклљмнњопрстќуфхцчџш",
  ru: "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
  sr: "абвгдђежзијклљмнњопрстћуфхцчџш",
  uk: "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
};

const DEVANAGARI: Readonly<Record<string, string>> = { hi: "", mr: "ळ", ne: "" };

/** Scripts of a single language, or of a single supported one. */
const ONE_LANGUAGE_SCRIPTS: readonly (readonly [pattern: RegExp, language: string])[] = [
  [/\p{Script=Greek}/gu, "el"],
  [/\p{Script=Armenian}/gu, "hy"],
  [/\p{Script=Tamil}/gu, "ta"],
  [/\p{Script=Georgian}/gu, "ka"],
  [/\p{Script=Thai}/gu, "th"],
  [/\p{Script=Lao}/gu, "lo"],
  [/\p{Script=Khmer}/gu, "km"],
  [/\p{Script=Myanmar}/gu, "my"],
  [/\p{Script=Hangul}/gu, "ko"],
  [/\p{Script=Bengali}/gu, "bn"],
  [/\p{Script=Gujarati}/gu, "gu"],
  [/\p{Script=Gurmukhi}/gu, "pa"],
  [/\p{Script=Telugu}/gu, "te"],
  [/\p{Script=Kannada}/gu, "kn"],
  [/\p{Script=Malayalam}/gu, "ml"],
  [/\p{Script=Sinhala}/gu, "si"],
  [/\p{Script=Ethiopic}/gu, "am"],
];

/** Scripts of several languages, which are distinguished by letters and words. */
const SHARED_SCRIPTS: readonly (readonly [
  pattern: RegExp,
  find: (sample: string, expected: Expected) => DetectedLanguage,
])[] = [
  [/\p{Script=Cyrillic}/gu, (sample, expected) => findByWords(sample, expected, CYRILLIC_LETTERS)],
  [/\p{Script=Devanagari}/gu, (sample, expected) => findByWords(sample, expected, DEVANAGARI)],
  [/\p{Script=Hebrew}/gu, (sample) => ({ language: isYiddish(sample) ? "yi" : "he", confidence: 0.9 })],
  [/\p{Script=Arabic}/gu, findArabicPersianOrUrdu],
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, findChineseOrJapanese],
];

/**
 * Guesses the language of a text by its script, its function words, its letters and, for the rest, the n-grams of
 * tinyld: among the languages that PostgreSQL has a stemmer for, and those that would else be mistaken for them.
 * `hint` (a tag such as `de-AT`: the language of the page, the chat or the project) decides where the text does not;
 * texts of one or two words are often ambiguous.
 * Reads a bounded part of the text; never throws.
 */
export function detectLanguage(text: string, hint?: string): DetectedLanguage {
  const sample = sampleOf(text);
  const hinted = primaryLanguage(hint ?? "");
  const expected: Expected =
    hinted === "" ? { language: "en", ...EXPECTATIONS.none } : { language: hinted, ...EXPECTATIONS.hinted };
  const letterCount = countMatches(sample, /\p{L}/gu);
  if (letterCount === 0) return { language: expected.language, confidence: 0 };
  for (const [pattern, language] of ONE_LANGUAGE_SCRIPTS) {
    const share = countMatches(sample, pattern) / letterCount;
    if (share >= LEAST_SHARE_BESIDE_LATIN) return { language, confidence: Math.min(1, 0.5 + share / 2) };
  }
  for (const [pattern, find] of SHARED_SCRIPTS) {
    if (countMatches(sample, pattern) / letterCount >= LEAST_SHARE_BESIDE_LATIN) return find(sample, expected);
  }
  return findByWords(sample, expected, LATIN_LETTERS);
}

/** The candidates are the keys of `alphabets`. */
function findByWords(
  sample: string,
  expected: Expected,
  alphabets: Readonly<Record<string, string>>,
): DetectedLanguage {
  const words = tokenize(sample)
    .map(({ term }) => term)
    .filter((term) => /\p{L}/u.test(term));
  const candidates = Object.keys(alphabets);
  const scores: Scores = new Map(candidates.map((language) => [language, 0]));
  addWordScores(scores, words);
  const withWords = new Set(candidates.filter((language) => (scores.get(language) ?? 0) > 0));
  addLetterScores(scores, words, alphabets);
  add(scores, expected.language, expected.bonus);
  // The most expensive step: skipped if it cannot change the result.
  if (leadOf(scores) <= gramWeight(words.length)) addGramScores(scores, sample, words.length);
  return decide(scores, expected, { withWords, wordCount: words.length });
}

/** Scores function words: a language's share of the words, less for words of several languages. */
function addWordScores(scores: Scores, words: readonly string[]): void {
  for (const word of words) {
    for (const [language, weight] of functionWordWeights(word)) {
      add(scores, language, weight / Math.max(words.length, 3));
    }
  }
}

/**
 * Letters beyond a to z speak for the languages that have them and against the others: the more, the more words hold
 * one, so that a `café` makes no English text French.
 */
function addLetterScores(scores: Scores, words: readonly string[], alphabets: Readonly<Record<string, string>>): void {
  const special = words.map((word) => word.match(/[^\P{L}a-z]/gu) ?? []).filter((letters) => letters.length > 0);
  const distinct = [...new Set(special.flat())];
  if (distinct.length === 0) return;
  const weight = 0.3 * Math.min(1, (2 * special.length) / words.length);
  for (const [language, alphabet] of Object.entries(alphabets)) {
    const known = distinct.filter((letter) => alphabet.includes(letter)).length;
    add(scores, language, weight * (known / distinct.length - Math.min(1, distinct.length - known)));
  }
}

/**
 * tinyld returns 1 if it is certain, and small numbers that only rank the others. It counts less the more words there
 * are: a foreign name suffices for its certainty, and function words decide by then.
 */
function addGramScores(scores: Scores, sample: string, wordCount: number): void {
  const guesses = loadTinyld().detectAll(sample, { only: [...scores.keys()] });
  const total = guesses.reduce((sum, { accuracy }) => sum + accuracy, 0);
  const weight = gramWeight(wordCount);
  for (const { lang, accuracy } of guesses) {
    add(scores, lang, weight * (accuracy === 1 ? 1 : (0.6 * accuracy) / total));
  }
}

/** Returns the maximum that n-grams add to a language's score. */
function gramWeight(wordCount: number): number {
  return 0.25 * Math.min(1, 8 / Math.max(1, wordCount));
}

function leadOf(scores: Scores): number {
  const [best = 0, second = 0] = [...scores.values()].sort((a, b) => b - a);
  return best - second;
}

function decide(
  scores: Scores,
  expected: Expected,
  { withWords, wordCount }: { withWords: ReadonlySet<string>; wordCount: number },
): DetectedLanguage {
  const [first, second] = [...scores].sort(([, left], [, right]) => right - left);
  if (first === undefined) return { language: expected.language, confidence: 0 };
  const [language, best] = first;
  const lead = best - (second?.[1] ?? 0);
  // In a short text the size of the lead counts, in a long one the number of words behind it.
  const byHeight = Math.max(0, Math.min(1, best)) * 0.5 + Math.min(0.5, lead * 1.5);
  const byCount = 0.95 * (1 - Math.exp((-lead * wordCount) / 2));
  const confidence = withWords.has(language) ? Math.max(byHeight, byCount) : Math.min(byHeight, MOST_WITHOUT_WORDS);
  const isTooUnclear = confidence < expected.leastConfidence && scores.has(expected.language);
  return { language: isTooUnclear ? expected.language : language, confidence };
}

function add(scores: Scores, language: string, value: number): void {
  const score = scores.get(language);
  if (score !== undefined) scores.set(language, score + value);
}

/** Yiddish writes its vowels and digraphs, which Hebrew hardly ever has. */
function isYiddish(sample: string): boolean {
  const words = tokenize(sample).map(({ term }) => term.normalize("NFC"));
  const yiddish = words.filter(
    (word) => YIDDISH_WORDS.has(word) || /[\u05F0-\u05F2]|[אי]\u05B7|א\u05B8|פ\u05BF/u.test(word),
  );
  return yiddish.length * 5 >= words.length;
}

const YIDDISH_WORDS = toSet(
  "איז און דער די דאס דאָס אין אויף מיט נישט ניט איך ער זי מיר איר זיי וואס וואָס ווי ווער ווען פאר פון צו קען מיין האט האָט",
);

/** By the letters that Arabic lacks; without any, by Arabic's article and the commonest words of Persian. */
function findArabicPersianOrUrdu(sample: string): DetectedLanguage {
  if (/[ٹڈڑںےھہ]/u.test(sample)) return { language: "ur", confidence: 0.9 };
  if (/[پچژگکی]/u.test(sample)) return { language: "fa", confidence: 0.9 };
  if (/(?:^|\s)[وبلف]?ال/u.test(sample)) return { language: "ar", confidence: 0.9 };
  const isPersian = sample.split(" ").some((word) => PERSIAN_WORDS.has(word));
  return { language: isPersian ? "fa" : "ar", confidence: 0.6 };
}

const PERSIAN_WORDS = toSet("است بود را از در به آن با تا هم شد شده بودن هست");

function findChineseOrJapanese(sample: string): DetectedLanguage {
  const kana = countMatches(sample, /[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  const han = countMatches(sample, /\p{Script=Han}/gu);
  return kana * 20 >= han ? { language: "ja", confidence: 0.95 } : { language: "zh", confidence: 0.9 };
}

function sampleOf(text: string): string {
  const half = SAMPLE_CHARS / 2;
  const middle = Math.floor(text.length / 2);
  const part = text.length <= SAMPLE_CHARS ? text : `${text.slice(0, half)} ${text.slice(middle, middle + half)}`;
  // URLs, numbers and codes such as K-1050 have no language.
  return part
    .split(/\s+/)
    .filter((word) => !/:\/\/|@|^www\.|\p{N}/u.test(word))
    .join(" ");
}

function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

function toSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

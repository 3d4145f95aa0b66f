import { z } from "zod";
import {
  detectLanguage,
  findSynonyms,
  foldAccents,
  isSameWord,
  likeness,
  meaningOf,
  tokenize,
  wordRarity,
  findCodes,
  questionWords,
  stopWords,
} from "@svc/text";
import type { Token } from "@svc/text";
import { createLanguageFiles, foldWords, matchWording, phrasesOf, words } from "../language-files.ts";
import type { WordingMatcher } from "../language-files.ts";
import { JOINED_LANGUAGES } from "../talk/read-talk.ts";
import type { SearchResult } from "../answer.ts";

const wordSet = words.transform((list): ReadonlySet<string> => new Set(list));

/** A file of `data/naming`. */
const namingOf = createLanguageFiles(
  "naming",
  z.strictObject({
    /** Words that precede a noun: articles, possessives, prepositions, "which". */
    before: wordSet,
    /** Verbs that take another verb at the end: "does the warranty last", "kann ich Ware umtauschen". */
    auxiliaries: wordSet.optional(),
  }),
);

/** In a language without a file, the first words of a question are its topic. */
const NOTHING_BEFORE: ReadonlySet<string> = new Set([""]);

/** A question that begins with one of these ends with a property: "Is the delivery free?". */
const COPULAS = new Set("is are was were ist sind".split(" "));

/** Returns verbs that begin a question, where a list has them: "can I", "darf ich". */
export function askingVerbs(language: string): ReadonlySet<string> {
  return new Set([...COPULAS, ...(namingOf(language)?.auxiliaries ?? [])]);
}

/** Pronouns that a verb follows: "do you sell bicycles". */
const PERSONS = new Set("i you we they he she it".split(" "));

/** Matches English words that describe how something is. */
const ADJECTIVE = /(?:est|able|ible|ive|ful|ous|less|ish|ed|ly)$/;

/**
 * Finds the words of a question that name its topic, as terms: the price of something else does not answer a question
 * about a coffee grinder, while a verb or adjective may differ from the document's. They are found by preceding
 * articles and the like, and by the capitals of names (and of German nouns); if there are only keywords, all of them
 * are topic words.
 */
export function readNaming(question: string): ReadonlySet<string> {
  const tokens = tokenize(question);
  const { language } = detectLanguage(question);
  const empty = new Set([...stopWords(language), ...questionWords(language)]);
  const content = tokens.filter(({ term }) => !empty.has(term));
  const codes = findCodes(question);
  const termsOf = (list: readonly { term: string }[]) => new Set([...list, ...codes].map(({ term }) => term));
  if (content.length === tokens.length) return termsOf(content);
  const { before = NOTHING_BEFORE, auxiliaries = NOTHING_BEFORE } = namingOf(language) ?? {};
  const runs = runsOf(tokens, (term) => empty.has(term) || before.has(term));
  const hasAuxiliary = tokens.some(({ term }) => auxiliaries.has(term)) || COPULAS.has(tokens[0]?.term ?? "");
  const found = runs.flatMap((run, position) => {
    const isLast = position === runs.length - 1;
    if (before.has(run.behind)) {
      const subject = language === "en" ? withoutVerb(run.tokens, tokens, auxiliaries) : run.tokens;
      const named = isLast && hasAuxiliary && subject.length > 1 ? subject.slice(0, -1) : subject;
      return named.filter(
        ({ term }, index) => index === named.length - 1 || language !== "en" || !ADJECTIVE.test(term),
      );
    }
    const object = run.tokens.at(-1);
    const isObject = language === "en" && PERSONS.has(run.behind) && run.tokens.length > 1;
    return isObject && object !== undefined && !ADJECTIVE.test(object.term) ? [object] : [];
  });
  const capitals = content.filter(
    ({ start, end }) => /^\p{Lu}\p{Ll}/u.test(question.slice(start, end)) && !beginsSentence(question, start),
  );
  // In German, which capitalizes nouns, other words are not nouns.
  const named = language === "de" && capitals.length > 0 ? capitals : [...found, ...capitals];
  return termsOf(named);
}

/** Matches what may be an English verb after its subject: "keeps", "arrived", "blinking". */
const VERB = /(?:[^s]s|ed|ing)$/;

/** Returns the words of a run before its verb: "light" of "the light keeps blinking", but all of "does the machine leak". */
function withoutVerb(run: readonly Token[], all: readonly Token[], auxiliaries: ReadonlySet<string>): readonly Token[] {
  const start = run[0]?.start ?? 0;
  const isAsked = all.some((token) => token.start < start && (auxiliaries.has(token.term) || COPULAS.has(token.term)));
  const verb = isAsked ? -1 : run.findIndex(({ term }, at) => at > 0 && VERB.test(term));
  return verb === -1 ? run : run.slice(0, verb);
}

/** Returns runs of consecutive words, each with the word before it; the first run has the empty word before it. */
function runsOf(tokens: readonly Token[], isEmpty: (term: string) => boolean): { behind: string; tokens: Token[] }[] {
  const runs: { behind: string; tokens: Token[] }[] = [];
  let behind = "";
  let isOpen = false;
  for (const token of tokens) {
    if (isEmpty(token.term)) {
      behind = token.term;
      isOpen = false;
    } else if (isOpen) {
      runs.at(-1)?.tokens.push(token);
    } else {
      runs.push({ behind, tokens: [token] });
      isOpen = true;
    }
  }
  return runs;
}

function beginsSentence(text: string, start: number): boolean {
  return /(?:^|[.?!:¿¡\n])["'„“»«(\s]*$/.test(text.slice(Math.max(0, start - 6), start));
}

/** Kinds in order of precedence: the first that matches a question wins. "steps" asks what to do. */
export const KINDS = [
  "price",
  "money",
  "duration",
  "time",
  "number",
  "person",
  "place",
  "steps",
  "phone",
  "email",
] as const;

/** Kinds without which a text does not answer: what else it says of the subject is no price, and no reason. */
export const STRICT_KINDS = ["difference", "reason", "price", "phone", "email"] as const;

/** Kind of information that a question asks for. */
type AnswerKind = (typeof KINDS | typeof STRICT_KINDS)[number];
const ALL_KINDS = [...new Set<AnswerKind>([...KINDS, ...STRICT_KINDS])];

/** Number of characters of a question that are read to find its kind. */
const MAX_CHARS = 500;

const PHONE = /(?:\p{N}[\s()/.–-]{0,3}){6}/u;
const EMAIL = /\S@\S/u;
const AMOUNT = /[€$£¥₽₺₹]|\p{N}[.,]\p{N}{2}(?!\p{N})/u;

/** Language-independent patterns of a text that contains this kind of information. */
const SIGNS: Readonly<Partial<Record<AnswerKind, RegExp>>> = {
  price: AMOUNT,
  money: /[€$£¥₽₺₹]|\p{N}/u,
  time: /\p{N}/u,
  number: /\p{N}/u,
  person: /\p{Lu}\p{Ll}+/u,
  place: /\p{Lu}\p{Ll}+/u,
  steps: /\S/u,
  phone: PHONE,
  email: EMAIL,
};

/** The same for the strict kinds; the others are recognized by words alone. */
const STRICT_SIGNS: Readonly<Partial<Record<AnswerKind, RegExp>>> = {
  price: AMOUNT,
  phone: PHONE,
  email: EMAIL,
};

const phrasesByKind = z.partialRecord(z.enum(ALL_KINDS), z.array(z.string()));

/** A file of `data/answer-kinds`: phrases that ask for a kind of answer, and words that a text with such an answer has. */
const fileSchema = z.strictObject({ asks: phrasesByKind, holds: phrasesByKind });

interface LanguageKinds {
  asks: ReadonlyMap<AnswerKind, WordingMatcher>;
  isUnspaced: boolean;
  holds: ReadonlyMap<AnswerKind, readonly string[]>;
}

const compiled = new Map<string, LanguageKinds | null>();

const fileOf = createLanguageFiles("answer-kinds", fileSchema);

/** A word of a question with its weight. */
export interface QuestionWord {
  /** Without accents. */
  term: string;
  /** The word as written in the question; null if unknown, as for a word that was heavily corrected. */
  said: string | null;
  /** Inverse document frequency in the knowledge bases. */
  weight: number;
  /** How rare it is in everyday language, 0 to 1. */
  rarity: number;
  /** Whether it names what the question is about. */
  isName: boolean;
  /** Whether it is a name with digits ("E12"). */
  isCode: boolean;
  /** Whether it is a day of the week, and not one of a name, such as "Easter Sunday". */
  isDay: boolean;
  /** Whether no document of the knowledge bases contains it. */
  isUnknown: boolean;
}

/** A question prepared for comparison with possible answers. */
export interface ReadQuestion {
  words: readonly QuestionWord[];
  kind: AnswerKind | null;
  /**
   * Returns whether a text with these folded words contains the kind of information the question asks for; false if it
   * asks for no kind.
   */
  containsKind: (text: string, terms: readonly string[]) => boolean;
  /**
   * Returns false for a text with these folded words, and those of its headings, if the question asks for a difference, a
   * reason, a price, a phone number or an email address and the text has none.
   */
  mayAnswer: (text: string, terms: readonly string[]) => boolean;
  /** Language of the question (ISO 639-1); null if it is not clear. */
  language: string | null;
  /** Semantic similarity of the question and words of a text, -1 to 1; null for a language without word vectors. */
  likenessTo: ((terms: readonly string[]) => number) | null;
  /** Returns the positions of the words that a term of a text is a form of; empty if there are none. */
  positionsOf: (term: string) => readonly number[];
  /** As `positionsOf`, for terms that mean the same as a word. */
  synonymPositionsOf: (term: string) => readonly number[];
}

/** Maximum number of words; the rarest words of a long question identify its topic. */
const MAX_WORDS = 32;

/** Minimum rarity of a word that is not a stop word. */
const LEAST_RARITY = 0.05;

const CODE = /^(?=.*\p{L})(?=.*\p{N})/u;

/** Minimum confidence to accept the detected language of a question. */
const LEAST_LANGUAGE_CONFIDENCE = 0.6;

/** Returns the days of the week in a language, in lower case and without accents. */
const daysOf = remembered((language: string): ReadonlySet<string> => {
  const format = new Intl.DateTimeFormat(language, { weekday: "long", timeZone: "UTC" });
  // The first of January 1970 was a Thursday.
  return new Set(Array.from({ length: 7 }, (_, day) => foldAccents(format.format(day * 86_400_000).toLowerCase())));
});

/** Returns the days of the week in a question, without those after a word that tells something of the day. */
function readDays(tokens: readonly Token[], language: string): ReadonlySet<string> {
  const isEmpty = ({ term }: Token) => stopWords(language).has(term) || questionWords(language).has(term);
  const terms = tokens.map(({ term }) => foldAccents(term));
  return new Set(
    terms.filter((term, at) => daysOf(language).has(term) && tokens.slice(Math.max(0, at - 1), at).every(isEmpty)),
  );
}

/** Reads a question that was searched for. */
export function readQuestion(asked: string, { words, passageCount = Infinity, languages }: SearchResult): ReadQuestion {
  const detected = detectLanguage(asked);
  const isClear = detected.confidence >= LEAST_LANGUAGE_CONFIDENCE;
  // The language of short questions cannot be detected, so the documents' language is used.
  const language = isClear ? detected.language : (languages?.[0] ?? detected.language);
  const spoken = [...new Set([language, ...(languages ?? [])])];
  const kind = kindOf(asked, spoken, KINDS);
  const strictKind = kindOf(asked, spoken, STRICT_KINDS);
  const tokens = tokenize(asked);
  const written = tokens.map(({ start, end }) => asked.slice(start, end));
  const names = new Set([...readNaming(asked)].map(foldAccents));
  const days = readDays(tokens, language);
  // Weight of a word in no document, with a margin for the share of its form.
  const leastUnknown = 1.15 * Math.log(1 + (passageCount + 0.5) / 0.5);
  const read = [...words]
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_WORDS)
    .map(({ word, weight }): QuestionWord => {
      const term = foldAccents(word);
      return {
        term,
        said: writtenAs(term, written),
        weight,
        rarity: Math.max(wordRarity(term, language) ** 3, LEAST_RARITY),
        isName: names.has(term),
        isCode: CODE.test(term),
        isDay: days.has(term),
        isUnknown: weight >= leastUnknown,
      };
    });
  const synonyms = new Map<string, number[]>();
  for (const [word, ofWord] of findSynonyms(asked, language)) {
    const position = read.findIndex(({ term }) => isForm(term, word));
    if (position === -1) continue;
    for (const synonym of ofWord) synonyms.set(synonym, [...(synonyms.get(synonym) ?? []), position]);
  }
  const meaning = meaningOf(
    tokens.map(({ term }) => term),
    language,
  );
  return {
    words: read,
    likenessTo: meaning === null ? null : (terms) => likeness(meaning, meaningOf(terms, language)),
    language: isClear ? detected.language : null,
    kind,
    containsKind: (text, terms) => kind !== null && containsKind(kind, { text, terms, languages: spoken }),
    mayAnswer: (text, terms) => strictKind === null || mayAnswer(strictKind, { text, terms, languages: spoken }),
    positionsOf: remembered((term) => {
      const same = read.findIndex((word) => word.term === term);
      const position = same === -1 ? read.findIndex((word) => isForm(word.term, term)) : same;
      return position === -1 ? [] : [position];
    }),
    synonymPositionsOf: remembered((term) => {
      const own = synonyms.get(term);
      if (own !== undefined) return own;
      for (const [synonym, positions] of synonyms) if (isForm(synonym, term)) return positions;
      return [];
    }),
  };
}

/**
 * Returns the word of the question that a term was searched for: itself, or the only other one with the same prefix.
 */
function writtenAs(term: string, written: readonly string[]): string | null {
  const folded = written.map((word) => ({ word, form: foldAccents(word.toLowerCase()) }));
  const same = folded.find(({ form }) => form === term) ?? folded.find(({ form }) => isForm(form, term));
  return same?.word ?? folded.find(({ form }) => form.slice(0, 3) === term.slice(0, 3))?.word ?? null;
}

function isForm(one: string, other: string): boolean {
  return isSameWord(one, other) || isPlural(one, other);
}

/** Returns whether one is the plural of the other, for words too short for `isSameWord`: "dog", "dogs". */
function isPlural(one: string, other: string): boolean {
  return Math.min(one.length, other.length) >= 3 && (one === `${other}s` || other === `${one}s`);
}

function remembered<T>(find: (term: string) => T): (term: string) => T {
  const known = new Map<string, T>();
  return (term) => {
    const before = known.get(term);
    if (before !== undefined) return before;
    const found = find(term);
    known.set(term, found);
    return found;
  };
}

/** Returns which of these kinds of answers a question asks for in one of the languages (ISO 639-1); null for none. */
export function kindOf<Kind extends AnswerKind>(
  asked: string,
  languages: readonly string[],
  kinds: readonly Kind[],
): Kind | null {
  const words = foldWords(asked.slice(0, MAX_CHARS));
  const asks = (kind: Kind) => languages.some((language) => kindsOf(language)?.asks.get(kind)?.(words) != null);
  return kinds.find(asks) ?? null;
}

/** A text, its folded words, and the languages in which it may be. */
interface KindText {
  text: string;
  terms: readonly string[];
  languages: readonly string[];
}

/** Returns whether a text holds something of the kind. */
export function containsKind(kind: AnswerKind, held: KindText): boolean {
  // A text that only mentions the price has none; `mayAnswer` accepts such words, since a table may have bare figures.
  return SIGNS[kind]?.test(held.text) === true || containsWordOf(kind === "price" ? "money" : kind, held);
}

const mayAnswer = (kind: AnswerKind, held: KindText): boolean =>
  STRICT_SIGNS[kind]?.test(held.text) === true || containsWordOf(kind, held);

function containsWordOf(kind: AnswerKind, { terms, languages }: KindText): boolean {
  return languages.some((language) => {
    const kinds = kindsOf(language);
    const words = kinds?.holds.get(kind) ?? [];
    if (kinds?.isUnspaced !== true) return words.some((word) => terms.includes(word));
    const joined = terms.join("");
    return words.some((word) => joined.includes(word));
  });
}

function kindsOf(language: string): LanguageKinds | null {
  const known = compiled.get(language);
  if (known !== undefined) return known;
  const file = fileOf(language);
  const kinds = file === null ? null : compile(file, language);
  compiled.set(language, kinds);
  return kinds;
}

function compile({ asks, holds }: z.infer<typeof fileSchema>, language: string): LanguageKinds {
  const isUnspaced = JOINED_LANGUAGES.has(language);
  return {
    isUnspaced,
    asks: new Map(ALL_KINDS.map((kind) => [kind, matchWording([asks[kind] ?? []], { gap: 0, isUnspaced })])),
    holds: new Map(ALL_KINDS.map((kind) => [kind, phrasesOf(holds[kind] ?? [])])),
  };
}

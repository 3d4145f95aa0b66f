import { z } from "zod";
import { stopWords } from "@svc/text";
import { createLanguageFiles, phrases, words } from "../language-files.ts";

/** Negation words by language (ISO 639-1). */
const NEGATIONS: Readonly<Record<string, string>> = {
  en: "no not never nor none nobody nothing nowhere neither without cannot cant dont wont doesnt didnt isnt arent wasnt hardly barely",
  de: "nicht kein keine keinen keinem keiner keines nie niemals niemand niemanden nichts ohne weder kaum nein",
  fr: "ne pas jamais rien personne aucun aucune sans ni plus non",
  es: "no ni nunca jamás nada nadie ningún ninguna ninguno sin tampoco",
  it: "non né mai niente nulla nessun nessuno nessuna senza no",
  pt: "não nem nunca jamais nada ninguém nenhum nenhuma sem",
  nl: "niet geen nooit niemand niets noch zonder nee",
  pl: "nie ani nigdy nic nikt żaden żadna żadne bez",
  ru: "не нет ни никогда ничего никто никого без нельзя",
  uk: "не ні ані немає нема ніколи нічого ніхто нікого без",
  tr: "değil yok ne hiç hayır",
  ar: "لا لم لن ليس ليست بدون ما",
};

const BY_LANGUAGE: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(NEGATIONS).map(([language, words]) => [language, new Set(words.split(" "))]),
);

const NONE: ReadonlySet<string> = new Set();

/** Negation words of all these languages. */
export const ANY_NEGATION: ReadonlySet<string> = new Set(Object.values(NEGATIONS).flatMap((words) => words.split(" ")));

/** Kind of a word: a correction usually has the kind of what it replaces. */
const WORD_KINDS = ["ask", "verb", "article", "place", "and", "person", "not", "number", "name", "word"] as const;
export type WordKind = (typeof WORD_KINDS)[number];

/** A file of `data/repairs`: hesitations and self-corrections. */
const repairsSchema = z.strictObject({
  /** Filler sounds without meaning. */
  pauses: phrases.optional(),
  /** Phrases that withdraw something. */
  edits: phrases.optional(),
  /** Words before such a phrase. */
  links: phrases.optional(),
  /** Phrases after it that are not part of the correction. */
  tails: phrases.optional(),
  /** Phrases without meaning if set off by punctuation on both sides. */
  fillers: phrases.optional(),
  /** The one of `edits` that also means "not". */
  not: z.string().optional(),
  /**
   * The most common words of each kind. The weights of corrections were fitted with the English ones; in other
   * languages, words that would look like the beginning of a question have no kind.
   */
  kinds: z.partialRecord(z.enum(WORD_KINDS), words),
});

const repairsOf = createLanguageFiles("repairs", repairsSchema);
const kindsByLanguage = new Map<string, ReadonlyMap<string, WordKind>>();

/** Returns the correction words of a language (ISO 639-1); none if it is not supported. */
export function repairWords(language: string): z.infer<typeof repairsSchema> {
  return repairsOf(language) ?? { kinds: {} };
}

/** Returns the kinds of a language's words, in lower case; none if it is not supported. */
export function wordKinds(language: string): ReadonlyMap<string, WordKind> {
  const known = kindsByLanguage.get(language);
  if (known !== undefined) return known;
  const { kinds } = repairWords(language);
  const found = new Map(
    WORD_KINDS.flatMap((kind) => (kinds[kind] ?? []).map((word): [string, WordKind] => [word, kind])),
  );
  kindsByLanguage.set(language, found);
  return found;
}

/** Returns a function that tests whether a word negates a statement in a language (ISO 639-1). */
export function negationTest(language: string): (word: { word: string } | undefined) => boolean {
  const words = BY_LANGUAGE.get(language) ?? NONE;
  return (word) => word !== undefined && (words.has(word.word) || (language === "en" && word.word.endsWith("n't")));
}

/** Words that are frequent in speech and rare in writing. */
const SPOKEN_WORDS: ReadonlySet<string> = new Set(
  "yeah yes okay ok hmm mean think know knew going go goes gonna just like really thing things something get gets got want wanted say said saying right well maybe actually kind sort lot bit look looking see make makes making way good sure guess need probably one two would could also even much put use quite let come came take try thought anything everything someone".split(
    " ",
  ),
);

/** In Latin script, words of up to three letters are mostly function words; in other scripts they may be topics. */
const SHORT = /^\p{Script=Latin}{1,3}$/u;

/** Longer words are equal if they have the same prefix: `invoice`, `invoices`, `invoicing`. */
const STEM_CHARS = 6;

/** Returns the form of a word in which words of notes are compared. */
export const stemOf = (term: string): string => (/^\p{L}+$/u.test(term) ? term.slice(0, STEM_CHARS) : term);

/** Adds a missing final full stop. */
export const stopped = (text: string) => (/[\p{L}\p{N}]$/u.test(text) && /\s/.test(text) ? `${text}.` : text);

/** A word of a note with its position. */
export interface NoteWord {
  /** In lower case, with straight apostrophes. */
  word: string;
  kind: WordKind;
  isCapital: boolean;
  /** Whether a comma, a dash or a full stop precedes it. */
  isSetOff: boolean;
  /** Offset of its first UTF-16 unit. */
  start: number;
  /** Offset after its last UTF-16 unit. */
  end: number;
}

const WORD = /(?:[#$€£¥₽₹₴§№](?=\p{N}))?[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’.,&/-][\p{L}\p{M}\p{N}]+)*/gu;

/** Matches punctuation that represents a pause. */
const PAUSE = /[,;:.…–—，、。；：،؛]|\s-\s/u;

const plainKind = (word: string, isCapital: boolean): WordKind =>
  /\p{N}/u.test(word) ? "number" : isCapital ? "name" : "word";

/**
 * Returns the words and numbers of a text in a language (ISO 639-1), in order. A word with an inner point, hyphen or
 * apostrophe is one word, as is a number with the sign before it, as in "$5".
 */
export function noteWords(text: string, language: string): NoteWord[] {
  const kinds = wordKinds(language);
  let before = 0;
  return [...text.matchAll(WORD)].map((match) => {
    const [written] = match;
    const word = written.toLowerCase().replaceAll("’", "'");
    const isCapital = /^\p{Lu}/u.test(written);
    const start = match.index;
    const isSetOff = PAUSE.test(text.slice(before, start));
    before = start + written.length;
    return { word, kind: kinds.get(word) ?? plainKind(word, isCapital), isCapital, isSetOff, start, end: before };
  });
}

/** Removes characters of a kind at the end of a text, in linear time, unlike `/x+$/`. */
export function trimEnd(text: string, kind: RegExp): string {
  let end = text.length;
  while (end > 0 && kind.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/**
 * Returns a letter as capitalized at the beginning of a sentence in a language (ISO 639-1); unchanged if its capital
 * belongs to another letter.
 */
export function capitalOf(letter: string, language: string): string {
  // Turkish and Azerbaijani have two letters i, each with its own capital.
  if (language === "tr" || language === "az") return letter.toLocaleUpperCase(language);
  const capital = letter.toUpperCase();
  return capital.toLowerCase() === letter ? capital : letter;
}

/** Returns a function that tests whether a word is a topic word of notes in a language. */
export function topicTest(language: string): (term: string) => boolean {
  const common = stopWords(language);
  return (term) => !common.has(term) && !SPOKEN_WORDS.has(term) && !SHORT.test(term) && !term.includes("'");
}

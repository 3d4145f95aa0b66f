import { z } from "zod";
import { createLanguageFiles, lazily } from "../language-files.ts";

const list = z.array(z.string()).readonly();

/** How a language says when something is due. */
const dueSchema = z.strictObject({
  today: list,
  tomorrow: list,
  afterTomorrow: list,
  week: list,
  weekend: list,
  nextWeek: list,
  month: list,
  nextMonth: list,
  /** Patterns with a `number`, one where it is left out, of a `unit`: the beginning of one of `units`. */
  inTime: list,
  units: list,
  /** Before a day by which something is due in any case, and before one that counts only where something is to be done. */
  by: list,
  on: list,
  /** Between such a word and the day. */
  articles: list,
  /** Before a day that is not the one. */
  past: list,
  /** What ends on a day. */
  ends: list,
});
export type DueData = z.infer<typeof dueSchema>;

/**
 * A file of `data/note-words`: what people say who dictate notes. Beginnings of words and phrases, each as a regular
 * expression; a full stop at the end of one: the whole word.
 */
const wordsSchema = z.strictObject({
  /** Tells of something that is not as it should be, or is to be done. */
  issues: list,
  /** Begins a sentence that goes on about what was just said. */
  goesOn: list,
  /** Begins another thought. */
  next: list,
  /** Does so in speech that is written down without commas. */
  nextSpoken: list.optional(),
  /** Begins a sentence, and says nothing. */
  runUp: list,
  /** Says that a matter is settled. */
  done: list.optional(),
  /** Asks for something to be done, so that a day beside it is when. */
  todo: list.optional(),
  /** Stands for something that was named before. */
  refersBack: list.optional(),
  /** Joins two clauses without a comma. */
  joins: list.optional(),
  /** Ends the words at the beginning of a clause that name what it is about. */
  breaks: list.optional(),
  /** Begins a clause whose subject was named before. */
  pronouns: list.optional(),
  /** Stands for what something is to be done with, and was named before. */
  objects: list.optional(),
  articles: list.optional(),
  /** Who is to do something, where it is nobody in particular. */
  subjects: list.optional(),
  /** Clauses that ask for something: `what` is to be done. `{subject}` and `{who}` stand for those. */
  actions: list.optional(),
  /** Clauses in the first person whose `verb` becomes an infinitive at the end of a title. */
  commits: list.optional(),
  /** What may stand before the infinitive, and is one word with it. */
  particles: list.optional(),
  /** Ends a clause, and is no part of a title. */
  trim: list.optional(),
  /** Titles of persons. */
  titles: list.optional(),
  /** Stands behind who is to do something, and before. */
  does: list.optional(),
  asks: list.optional(),
  /** Who was named is to do something. */
  theirs: list.optional(),
  /** The speaker is to do something. */
  mine: list.optional(),
  due: dueSchema.optional(),
  numbers: list.optional(),
  ordinals: list.optional(),
});
export type WordData = z.infer<typeof wordsSchema>;

/** What is said alike in any language, in scripts of their own, and given names. */
const anySchema = z.strictObject({
  issues: list,
  otherScripts: list,
  otherScriptsUrgent: list,
  fine: list,
  urgent: list,
  high: list,
  low: list,
  names: list,
});

const anyOf = createLanguageFiles("note-words", anySchema);
const wordsOf = createLanguageFiles("note-words", wordsSchema);

/** Returns the words that are said alike in any language. */
export const anyWords = lazily(() => anySchema.parse(anyOf("any")));

/** Returns the words of a language (ISO 639-1); English signs of issues and nothing else for one that is not known. */
export const languageWords = (language: string): WordData =>
  wordsOf(language) ?? { issues: wordsOf("en")?.issues ?? [], goesOn: [], next: [], runUp: [] };

/** Matches nothing. */
const NEVER = "(?!)";

/** Phrases as the source of one expression: at the beginning of a word, and to the end of one behind a full stop. */
export const sourceOf = (phrases: readonly string[] | undefined): string =>
  phrases === undefined || phrases.length === 0
    ? NEVER
    : `(?<![\\p{L}\\p{N}])(?:${phrases.map((phrase) => phrase.replace(/(?<!\\)\.$/, "(?![\\p{L}\\p{N}])")).join("|")})`;

const expressions = new WeakMap<readonly string[], RegExp>();

/** Phrases as an expression, in any case. */
export function expressionOf(phrases: readonly string[]): RegExp {
  const known = expressions.get(phrases) ?? new RegExp(sourceOf(phrases), "iu");
  expressions.set(phrases, known);
  return known;
}

/** Whether a text has one of these phrases. */
export const hasPhrase = (text: string, phrases: readonly string[] | undefined): boolean =>
  phrases !== undefined && expressionOf(phrases).test(text);

/** Makes a function of languages (ISO 639-1) of one of their words, which is called once for each. */
export function perLanguage<Made>(make: (words: WordData, language: string) => Made): (language: string) => Made {
  const made = new Map<string, Made>();
  return (language) => {
    const known = made.get(language) ?? make(languageWords(language), language);
    made.set(language, known);
    return known;
  };
}

import { z } from "zod";
import { createLanguageFiles, lazily } from "../language-files.ts";

const list = z.array(z.string()).readonly();

/** Due date expressions of a language. */
const dueSchema = z.strictObject({
  today: list,
  tomorrow: list,
  afterTomorrow: list,
  week: list,
  weekend: list,
  nextWeek: list,
  month: list,
  nextMonth: list,
  /** Patterns with a `number` (1 if absent) of a `unit`: the beginning of one of `units`. */
  inTime: list,
  units: list,
  /** Words before a due date, and words before a day that is one only in a task. */
  by: list,
  on: list,
  /** Words between such a word and the day. */
  articles: list,
  /** Words before a past day. */
  past: list,
  /** Verbs for something that ends on a day. */
  ends: list,
});
export type DueData = z.infer<typeof dueSchema>;

/**
 * A file of `data/note-words`: expressions of dictated notes. Prefixes of words and phrases, each as a regular
 * expression; a full stop at the end matches the whole word.
 */
const wordsSchema = z.strictObject({
  /** Reports a problem or a task. */
  issues: list,
  /** Begins a sentence that continues the previous one. */
  goesOn: list,
  /** Begins a new topic. */
  next: list,
  /** Begins a new topic in a transcript without commas. */
  nextSpoken: list.optional(),
  /** Begins a sentence, without meaning. */
  runUp: list,
  /** Reports a matter as settled. */
  done: list.optional(),
  /** Asks for something to be done, so that a day next to it is the due date. */
  todo: list.optional(),
  /** Refers to something named before. */
  refersBack: list.optional(),
  /** Joins two clauses without a comma. */
  joins: list.optional(),
  /** Ends the topic at the beginning of a clause. */
  breaks: list.optional(),
  /** Begins a clause whose subject was named before. */
  pronouns: list.optional(),
  /** Pronoun of an object that was named before. */
  objects: list.optional(),
  articles: list.optional(),
  /** Subjects that name nobody in particular. */
  subjects: list.optional(),
  /** Clauses that ask for a task, `what`. `{subject}` and `{who}` are replaced by those patterns. */
  actions: list.optional(),
  /** Clauses in the first person whose `verb` becomes an infinitive at the end of a title. */
  commits: list.optional(),
  /** Separable prefixes of the infinitive. */
  particles: list.optional(),
  /** Ends a clause, and is not part of a title. */
  trim: list.optional(),
  /** Titles of persons. */
  titles: list.optional(),
  /** Follows or precedes the assignee. */
  does: list.optional(),
  asks: list.optional(),
  /** Assigns the task to the person named before. */
  theirs: list.optional(),
  /** Assigns the task to the speaker. */
  mine: list.optional(),
  due: dueSchema.optional(),
  numbers: list.optional(),
  ordinals: list.optional(),
});
type WordData = z.infer<typeof wordsSchema>;

/** Language-independent words, words of other scripts, and given names. */
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

/** Returns the language-independent words. */
export const anyWords = lazily(() => anySchema.parse(anyOf("any")));

/** Returns the words of a language (ISO 639-1); only the English words for issues if the language is not supported. */
export const languageWords = (language: string): WordData =>
  wordsOf(language) ?? { issues: wordsOf("en")?.issues ?? [], goesOn: [], next: [], runUp: [] };

/** Matches nothing. */
const NEVER = "(?!)";

/**
 * Returns the source of one expression for phrases: from the beginning of a word, and to its end if a phrase ends in a
 * full stop.
 */
export const sourceOf = (phrases: readonly string[] | undefined): string =>
  phrases === undefined || phrases.length === 0
    ? NEVER
    : `(?<![\\p{L}\\p{N}])(?:${phrases.map((phrase) => phrase.replace(/(?<!\\)\.$/, "(?![\\p{L}\\p{N}])")).join("|")})`;

const expressions = new WeakMap<readonly string[], RegExp>();

/** Returns a case-insensitive expression for phrases. */
function expressionOf(phrases: readonly string[]): RegExp {
  const known = expressions.get(phrases) ?? new RegExp(sourceOf(phrases), "iu");
  expressions.set(phrases, known);
  return known;
}

/** Returns whether a text contains one of these phrases. */
export const hasPhrase = (text: string, phrases: readonly string[] | undefined): boolean =>
  phrases !== undefined && expressionOf(phrases).test(text);

/** Caches a function of a language's words by language (ISO 639-1). */
export function perLanguage<Made>(make: (words: WordData, language: string) => Made): (language: string) => Made {
  const made = new Map<string, Made>();
  return (language) => {
    const known = made.get(language) ?? make(languageWords(language), language);
    made.set(language, known);
    return known;
  };
}

/** Severity of an issue, with the values of a ticket's priority. */
export type IssueSeverity = "low" | "normal" | "high" | "urgent";

const issueExpressions = lazily(() => {
  const { otherScripts, otherScriptsUrgent, fine, low, urgent } = anyWords();
  return {
    // Scripts without spaces between words may have none here.
    otherScripts: new RegExp(otherScripts.join("|"), "u"),
    otherScriptsUrgent: new RegExp(otherScriptsUrgent.join("|"), "u"),
    fine: new RegExp(sourceOf(fine), "giu"),
    low: new RegExp(sourceOf(low), "giu"),
    urgent: new RegExp(sourceOf(urgent), "giu"),
  };
});

/**
 * Returns whether a sentence in one of some languages (ISO 639-1) reports a problem or a task. An unsupported language
 * is read with the English words.
 */
export function reportsIssue(text: string, ...languages: readonly string[]): boolean {
  const said = text.replaceAll(issueExpressions().fine, " ");
  return (
    languages.some((language) => hasPhrase(said, languageWords(language).issues)) ||
    hasPhrase(said, anyWords().issues) ||
    issueExpressions().otherScripts.test(said) ||
    // A text that rates a problem as minor still reports a problem.
    hasPhrase(said, anyWords().low)
  );
}

/** Returns whether a sentence reports a matter as settled. */
export const isSettled = (text: string, language: string): boolean => hasPhrase(text, languageWords(language).done);

/** Returns the severity by the words of a text: if it has both "not urgent" and "urgent", only the latter counts. */
export function severityOf(text: string): IssueSeverity {
  const rest = text.replaceAll(issueExpressions().low, " ");
  if (hasPhrase(rest, anyWords().urgent) || issueExpressions().otherScriptsUrgent.test(rest)) return "urgent";
  if (rest !== text) return "low";
  return hasPhrase(text, anyWords().high) ? "high" : "normal";
}

/** Removes words about severity from a text. */
export const withoutRating = (text: string): string =>
  text.replaceAll(issueExpressions().low, " ").replaceAll(issueExpressions().urgent, " ");

import any from "./words/any.json" with { type: "json" };
import de from "./words/de.json" with { type: "json" };
import en from "./words/en.json" with { type: "json" };
import es from "./words/es.json" with { type: "json" };
import fr from "./words/fr.json" with { type: "json" };
import it from "./words/it.json" with { type: "json" };
import nl from "./words/nl.json" with { type: "json" };
import pl from "./words/pl.json" with { type: "json" };
import pt from "./words/pt.json" with { type: "json" };
import ru from "./words/ru.json" with { type: "json" };
import tr from "./words/tr.json" with { type: "json" };
import uk from "./words/uk.json" with { type: "json" };

/**
 * What people say in a language who dictate notes: beginnings of words and phrases, each as a regular expression. A full
 * stop at the end of one: the whole word.
 */
export interface WordData {
  /** Tells of something that is not as it should be, or is to be done. */
  issues: readonly string[];
  /** Begins a sentence that goes on about what was just said. */
  goesOn: readonly string[];
  /** Begins another thought. */
  next: readonly string[];
  /** Does so in speech that is written down without commas. */
  nextSpoken?: readonly string[];
  /** Begins a sentence, and says nothing. */
  runUp: readonly string[];
  /** Says that a matter is settled. */
  done?: readonly string[];
  /** Asks for something to be done, so that a day beside it is when. */
  todo?: readonly string[];
  /** Stands for something that was named before. */
  refersBack?: readonly string[];
  /** Joins two clauses without a comma. */
  joins?: readonly string[];
  /** Ends the words at the beginning of a clause that name what it is about. */
  breaks?: readonly string[];
  /** Begins a clause whose subject was named before. */
  pronouns?: readonly string[];
  /** Stands for what something is to be done with, and was named before. */
  objects?: readonly string[];
  articles?: readonly string[];
  /** Who is to do something, where it is nobody in particular. */
  subjects?: readonly string[];
  /** Clauses that ask for something: `what` is to be done. `{subject}` and `{who}` stand for those. */
  actions?: readonly string[];
  /** Clauses in the first person whose `verb` becomes an infinitive at the end of a title. */
  commits?: readonly string[];
  /** What may stand before the infinitive, and is one word with it. */
  particles?: readonly string[];
  /** Ends a clause, and is no part of a title. */
  trim?: readonly string[];
  /** Titles of persons. */
  titles?: readonly string[];
  /** Stands behind who is to do something, and before. */
  does?: readonly string[];
  asks?: readonly string[];
  /** Who was named is to do something. */
  theirs?: readonly string[];
  /** The speaker is to do something. */
  mine?: readonly string[];
  due?: DueData;
  numbers?: readonly string[];
  ordinals?: readonly string[];
}

/** How a language says when something is due. */
export interface DueData {
  today: readonly string[];
  tomorrow: readonly string[];
  afterTomorrow: readonly string[];
  week: readonly string[];
  weekend: readonly string[];
  nextWeek: readonly string[];
  month: readonly string[];
  nextMonth: readonly string[];
  /** Patterns with a `number`, one where it is left out, of a `unit`: the beginning of one of `units`. */
  inTime: readonly string[];
  units: readonly string[];
  /** Before a day by which something is due in any case, and before one that counts only where something is to be done. */
  by: readonly string[];
  on: readonly string[];
  /** Between such a word and the day. */
  articles: readonly string[];
  /** Before a day that is not the one. */
  past: readonly string[];
  /** What ends on a day. */
  ends: readonly string[];
}

const DATA: Readonly<Record<string, WordData>> = { de, en, es, fr, it, nl, pl, pt, ru, tr, uk };

/** The words of a language (ISO 639-1); of one that is not known, none. */
export const languageWords = (language: string): WordData => DATA[language] ?? NONE;

const NONE: WordData = { issues: en.issues, goesOn: [], next: [], runUp: [] };

/** What is said alike in any language, in scripts of their own, and given names. */
export const ANY_WORDS = any;

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

import { isGivenName, namedDays, withoutDue } from "./issue-facts.ts";
import { anyWords, hasPhrase, languageWords, perLanguage, sourceOf } from "./language-words.ts";
import { noteWords, topicTest, trimEnd } from "./note-words.ts";

/** Maximum number of words of a clause's topic. */
const LONGEST_TOPIC = 8;

/** Minimum number of words of a clause, in speech without commas. */
const LEAST_WORDS = 4;

const clauseWords = perLanguage(
  ({ actions = [], breaks, commits = [], joins, next, nextSpoken, runUp, subjects = [], ...words }) => {
    const ending = `${sourceOf(breaks)}(?![\\p{L}\\p{N}])`;
    const pronouns = sourceOf(words.pronouns);
    const who = `(?:(?:der |die |the )?(?:${sourceOf(words.titles)}\\.? )?(?<name>\\p{L}[\\p{L}'’-]+)(?: \\p{Lu}\\p{L}+)?)`;
    const fill = (pattern: string) => {
      let count = 0;
      return pattern
        .replaceAll("{subject}", () => `(?:${subjects.join("|")})`)
        .replaceAll("{who}", () => who.replace("<name>", `<name${(count += 1)}>`));
    };
    return {
      between: new RegExp(
        `[,;:!?…–—]+\\s+|\\s-\\s|\\s(?=(?:${[joins, next, nextSpoken].map(sourceOf).join("|")})\\s)`,
        "giu",
      ),
      runUp: new RegExp(`^${sourceOf(runUp)}[\\s,:]*(?=\\S)`, "iu"),
      actions: actions.map((pattern) => new RegExp(fill(pattern), "iu")),
      commits: commits.map((pattern) => new RegExp(pattern, "iu")),
      particle: new RegExp(`^(?<rest>.*?)(?: (?<particle>${(words.particles ?? []).join("|")}))?$`, "iu"),
      topicEnd: new RegExp(`\\s(?=${ending})`, "iu"),
      beginsWithVerb: new RegExp(`^${ending}`, "u"),
      beginsWithPronoun: new RegExp(`^${pronouns}(?!\\p{L})\\s*`, "u"),
      // "The card reader at the till it's broken": the topic, and a pronoun for it.
      doubled: new RegExp(`^(?<topic>\\S+ (?:\\S+ ){0,${LONGEST_TOPIC - 1}}?)(?:is |are )?(?=${pronouns}\\s)`, "u"),
      // After a removed word, German clauses begin with the verb.
      verbFirst: new RegExp(
        `^(?<verb>${ending}) (?<subject>(?:\\p{Ll}+ ){0,3}?\\p{Lu}[\\p{L}-]+(?: \\p{Lu}[\\p{L}-]+| (?:${(words.numbers ?? []).join("|")})(?!\\p{L}))*)(?<rest>.*)$`,
        "u",
      ),
    };
  },
);

/** Splits sentences in a language (ISO 639-1) into clauses. */
export function clausesOf(texts: readonly string[], language: string): string[] {
  const { between } = clauseWords(language);
  return texts
    .flatMap((text) => text.split(between))
    .flatMap((clause) => splitAfterDays(trimEnd(clause.trim(), /[.?!\s]/), language));
}

/** Splits speech without commas after a due date, where another topic begins. */
function splitAfterDays(clause: string, language: string): string[] {
  const wordsOf = (text: string) => text.trim().split(/\s+/).length;
  const starts = dayEnds(clause, language).filter(
    (at) => wordsOf(clause.slice(0, at)) >= LEAST_WORDS && wordsOf(clause.slice(at)) >= LEAST_WORDS,
  );
  const bounds = [0, ...starts, clause.length];
  return bounds.slice(1).map((end, index) => clause.slice(bounds[index], end).trim());
}

/** Returns the offsets where another clause begins after a day. */
export function dayEnds(text: string, language: string): number[] {
  const days = namedDays(text, language, new Date(0));
  const words = days.length === 0 ? [] : noteWords(text, language);
  return days.flatMap(({ end }) => {
    const next = words.find(({ start }) => start >= end);
    return next !== undefined && ["article", "person", "and"].includes(next.kind) ? [next.start] : [];
  });
}

/**
 * Removes introductory words of speech unless nothing would be left: "So, and the lamp is broken" becomes "the lamp is
 * broken".
 */
export function withoutRunUp(text: string, language: string): string {
  const { runUp } = clauseWords(language);
  let rest = text;
  for (;;) {
    const next = rest.replace(runUp, "");
    if (next === rest) return rest;
    rest = next;
  }
}

/** Returns a text with a small first letter, to continue a line. */
export const withoutCapital = (text: string): string =>
  text.replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase());

/**
 * Moves the subject of a German clause to the front: "ist die Tür verklemmt" (after a removed word) becomes "die Tür
 * ist verklemmt".
 */
export const uninverted = (clause: string, language: string): string =>
  language === "de"
    ? withoutCapital(clause).replace(clauseWords(language).verbFirst, "$<subject> $<verb>$<rest>")
    : clause;

/**
 * Returns the topic of a clause, before its verb: "the fire door at the back". Null if the clause begins with a verb or
 * a pronoun.
 */
export function topicOf(clause: string, language: string): string | null {
  const { beginsWithPronoun, beginsWithVerb, topicEnd } = clauseWords(language);
  const head = uninverted(clause, language).split(topicEnd)[0] ?? "";
  const words = noteWords(head, language);
  if (words.length === 0 || words.length > LONGEST_TOPIC || words[0]?.kind === "place") return null;
  const begin = withoutCapital(head);
  // Without capitals on nouns, German articles and pronouns look the same.
  const isPronoun = beginsWithPronoun.test(begin) && !(language === "de" && head === head.toLowerCase());
  const isName = !isPronoun && !beginsWithVerb.test(begin) && !hasPhrase(head, anyWords().high);
  return isName && countTopics(head, language) > 0 ? head : null;
}

/** Splits a clause that names its topic and continues with a pronoun for it: the card reader, it's broken. */
export function splitDoubled(clause: string, language: string): { topic: string | null; rest: string } {
  const match = clauseWords(language).doubled.exec(clause);
  const topic = match?.groups?.["topic"]?.trim() ?? null;
  return topic !== null && topicOf(topic, language) === topic
    ? { topic, rest: clause.slice(match?.[0].length ?? 0) }
    : { topic: null, rest: clause };
}

/** Removes the pronoun at the beginning of a clause; null if it begins with none. */
export function withoutPronoun(clause: string, language: string): string | null {
  const rest = clause.replace(clauseWords(language).beginsWithPronoun, "");
  return rest === clause ? null : rest;
}

/** Returns whether a clause begins with a verb, so that its subject was named before. */
export const beginsWithVerb = (clause: string, language: string): boolean =>
  clauseWords(language).beginsWithVerb.test(clause);

/** Counts the topic words of a text. */
export function countTopics(text: string, language: string): number {
  const isTopic = topicTest(language);
  return noteWords(text, language).filter(({ word, kind }) => kind !== "number" && isTopic(word)).length;
}

/** Returns the task that a clause asks for: "somebody should call Anna back" becomes "call Anna back". */
export function actionOf(clause: string, language: string): string | null {
  const { actions, commits } = clauseWords(language);
  for (const pattern of actions) {
    const groups = pattern.exec(clause)?.groups;
    if (groups?.["what"] === undefined) continue;
    const names = Object.entries(groups).flatMap(([key, name]) => (key.startsWith("name") ? [name] : []));
    if (names.every((name: string | undefined) => name === undefined || isPersonal(name, language))) {
      return groups["what"];
    }
  }
  for (const pattern of commits) {
    const { verb2, verb = verb2, what } = pattern.exec(clause)?.groups ?? {};
    if (what !== undefined && verb !== undefined) return withInfinitive(what, verb, language);
  }
  return null;
}

/** Returns whether a name is known, or at least capitalized. */
const isPersonal = (name: string, language: string) =>
  isGivenName(name) ||
  (language !== "de" && /^\p{Lu}\p{Ll}/u.test(name) && !hasPhrase(name, languageWords(language).runUp));

/** "Anna morgen an" with the verb "ruf" becomes "Anna anrufen". */
function withInfinitive(what: string, verb: string, language: string): string {
  const { particle = "", rest = what } = clauseWords(language).particle.exec(what)?.groups ?? {};
  return `${withoutDue(rest, language)} ${particle}${verb}${/(?:el|er)$/.test(verb) ? "n" : "en"}`;
}

import { capitalOf, noteWords, trimEnd } from "./note-words.ts";
import { withoutDue } from "./issue-facts.ts";
import { reportsIssue, withoutRating, hasPhrase, perLanguage, sourceOf } from "./language-words.ts";
import {
  actionOf,
  beginsWithVerb,
  clausesOf,
  countTopics,
  splitDoubled,
  topicOf,
  uninverted,
  withoutCapital,
  withoutPronoun,
  withoutRunUp,
} from "./note-parts.ts";

/** Maximum length of a title, in UTF-16 units: it fits one line of a list. */
export const TITLE_MAX_CHARS = 80;

/** Number of clauses that are read for a title: the first ones name the topic. */
const MOST_CLAUSES = 12;

/** A clause as a title, and the doubt whether it is a good one. */
interface ClauseReading {
  text: string;
  isAction: boolean;
  doubt: number;
}

/** The topic that a clause names, and whether it has nothing else: "the fire door at the back, it does not close". */
interface Topic {
  text: string;
  isAlone: boolean;
}

const titleWords = perLanguage(({ articles, due, objects, trim }) => ({
  article: new RegExp(`^${sourceOf(articles)} `, "iu"),
  object: new RegExp(sourceOf(objects), "u"),
  objects: new RegExp(`${sourceOf(objects)}\\s*`, "gu"),
  beginsWithObject: new RegExp(`^${sourceOf(objects)}\\s+`, "u"),
  end: new RegExp(`[\\s,.;:!?]+$|\\s*${sourceOf(trim)}$`, "iu"),
  // Removed together with a day.
  looseEnd: [...(articles ?? []), ...(due?.by ?? [])],
}));

/**
 * Returns the title of an issue from its sentences: the best clause, as a task or as a problem, and the task after a
 * problem. A pronoun at the beginning is replaced by what it refers to. The weights were chosen by hand on the set
 * `notes` of the folder eval.
 */
export function issueTitle(texts: readonly string[], language: string): string {
  const clauses = clausesOf(texts, language)
    .slice(0, MOST_CLAUSES)
    .map((clause) => withoutRunUp(clause, language));
  let named: Topic | null = null;
  let best: (ClauseReading & { score: number }) | null = null;
  let toDo: string | null = null;
  for (const [index, clause] of clauses.entries()) {
    const topic = topicOf(clause, language);
    const reading = readClause(clause, named, language);
    const score = scoreOf(reading, clause, language) + (index === 0 && topic !== null ? FIRST : 0) - index * LATER;
    if (best === null || score > best.score) best = { ...reading, score };
    toDo ??= actionOf(clause, language);
    named = nextTopic(named, reading.isAction ? null : topic, { clause, language });
  }
  const title = asLine(best?.text ?? texts.join(" "), language).replace(/^\p{Ll}/u, (letter) =>
    capitalOf(letter, language),
  );
  if (toDo === null || best?.isAction === true || title.includes(":") || !saysWhat(toDo, language)) return title;
  const both = `${title}: ${asLine(toDo, language)}`;
  return both.length <= TITLE_MAX_CHARS ? both : title;
}

/** Bonus of the first clause if it has no topic of its own, and penalty of each later one. */
const FIRST = 0.5;
const LATER = 0.3;

/** Scores a clause as a title. */
function scoreOf({ text, isAction, doubt }: ClauseReading, clause: string, language: string): number {
  const topics = countTopics(withoutRating(text), language);
  return (
    (reportsIssue(clause, language) ? 2 : 0) +
    (isAction ? 0.5 : 0) +
    Math.min(topics, 3) * 0.75 -
    doubt -
    (withoutRating(clause) === clause ? 0 : 1) -
    (topics === 0 ? 4 : 0) -
    (text.length > TITLE_MAX_CHARS ? 0.25 : 0)
  );
}

/** Returns whether a task is more specific than "fix that": in German by a noun, which has a capital. */
function saysWhat(action: string, language: string): boolean {
  const isBack = titleWords(language).object.test(action);
  const isEnough = language === "de" ? /\p{Lu}/u.test(action) : noteWords(action, language).length > 2;
  return countTopics(action, language) > 0 && (isEnough || !isBack);
}

/**
 * Returns the topic of the next clause: of two consecutive names the first, as in "Mr Kelleher, the man with the bike".
 */
function nextTopic(
  named: Topic | null,
  text: string | null,
  { clause, language }: { clause: string; language: string },
): Topic | null {
  const isAlone = text === clause;
  if (named === null) return text === null ? null : { text, isAlone };
  if (text === null && noteWords(clause, language)[0]?.kind === "place") return named;
  return text === null || (isAlone && named.isAlone) ? { ...named, isAlone } : { text, isAlone };
}

/** Returns a clause as a title, with the name of the topic it continues. */
function readClause(clause: string, named: Topic | null, language: string): ClauseReading {
  const action = actionOf(clause, language);
  return action === null ? readStatement(clause, named, language) : readAction({ clause, action }, named, language);
}

function readAction(
  { clause, action }: { clause: string; action: string },
  named: Topic | null,
  language: string,
): ClauseReading {
  const { article, object, objects } = titleWords(language);
  const isGerman = language === "de";
  const said = withoutRunUp(withoutDue(action, language), language);
  const what = isGerman ? said.replace(article, "") : said;
  const hasNoNoun = isGerman && !/\p{Lu}/u.test(what) && /\p{Lu}/u.test(named?.text ?? "");
  const isBack = hasNoNoun || object.test(what);
  if (!isBack && countTopics(what, language) > 1) return { text: what, isAction: true, doubt: 0 };
  if (named === null) return { text: isBack ? clause : what, isAction: true, doubt: isBack ? 2.5 : 1 };
  const doubt = isBack ? 1 : 0.75;
  if (isGerman) {
    const text = `${named.text.replace(article, "")} ${what.replaceAll(objects, "")}`;
    return { text, isAction: true, doubt };
  }
  const text =
    isBack && language === "en" ? what.replace(object, withoutCapital(named.text)) : `${named.text}: ${what}`;
  return { text, isAction: true, doubt };
}

/** Verbs that replace a contracted pronoun: "it's broken", "they're late", "whose bike is gone". */
const SHORT_VERBS: Readonly<Record<string, string>> = { s: " is ", re: " are ", whose: "'s " };

function readStatement(clause: string, named: Topic | null, language: string): ClauseReading {
  const said = uninverted(clause, language);
  const { topic, rest: own } = splitDoubled(said, language);
  const about = topic ?? named?.text ?? null;
  const rest = withoutCapital(own);
  const goesOn = withoutPronoun(rest, language);
  if (goesOn !== null) {
    if (about === null) return { text: rest, isAction: false, doubt: 2.5 };
    const verb = /^(?:\p{L}+['’](?<verb>s|re)|(?<whose>whose))\s/iu.exec(rest)?.groups;
    return {
      text: `${about}${SHORT_VERBS[verb?.["verb"] ?? verb?.["whose"] ?? ""] ?? " "}${goesOn}`,
      isAction: false,
      doubt: 0,
    };
  }
  const withoutObject = rest.replace(titleWords(language).beginsWithObject, "");
  if (about !== null && withoutObject !== rest) {
    return { text: `${about}: ${uninverted(withoutObject, language)}`, isAction: false, doubt: 1 };
  }
  const hasNoSubject = named?.isAlone === true && beginsWithVerb(rest, language);
  return { text: hasNoSubject ? `${named.text} ${rest}` : said, isAction: false, doubt: 0 };
}

/** Returns one line without final punctuation, cut between two phrases if it is too long. */
function asLine(text: string, language: string): string {
  const { end, looseEnd } = titleWords(language);
  let rest = withoutRunUp(text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim(), language);
  for (;;) {
    const short = withoutDue(rest.replace(end, ""), language);
    const last = noteWords(short, language).at(-1);
    const isLoose = last !== undefined && (last.kind === "and" || hasPhrase(last.word, looseEnd));
    const next = isLoose ? short.slice(0, last.start).trim() : short;
    if (next === rest || !/\p{L}\s+\p{L}/u.test(next)) return shortened(rest, language);
    rest = next;
  }
}

/** Cuts a text before a preposition or a conjunction so that it fits. */
function shortened(text: string, language: string): string {
  if (text.length <= TITLE_MAX_CHARS) return text;
  const ends = noteWords(text, language).filter(
    ({ kind, start }) => ["place", "and", "ask"].includes(kind) && start <= TITLE_MAX_CHARS,
  );
  // "between the second and the third floor" is removed entirely.
  const last = ends.findLast(({ kind, start }) => kind === "place" && start > TITLE_MAX_CHARS / 2) ?? ends.at(-1);
  const end = last?.start ?? 0;
  return end < TITLE_MAX_CHARS / 3 ? text : trimEnd(text.slice(0, end), /[\s,]/);
}

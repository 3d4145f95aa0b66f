import { capitalOf, noteWords, trimEnd } from "./note-words.ts";
import { withoutDue } from "./issue-facts.ts";
import { tellsIssue, withoutRating } from "./issue-words.ts";
import { hasPhrase, perLanguage, sourceOf } from "./language-words.ts";
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
} from "./note-clauses.ts";

/** Maximum length of a title, in UTF-16 units: it fits into a line of a list. */
export const TITLE_MAX_CHARS = 80;

/** What an issue is about is said in its first clauses. */
const MOST_CLAUSES = 12;

/** What a clause says as a title, and how little that is sure to be right. */
interface ClauseReading {
  text: string;
  isAction: boolean;
  doubt: number;
}

/** What a clause names, and whether that is all of it: "the fire door at the back, it does not close". */
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
  // Goes with a day that went.
  looseEnd: [...(articles ?? []), ...(due?.by ?? [])],
}));

/**
 * What an issue is about in a line, from the sentences that tell of it: the clause that says it best without those
 * around it, as what is to be done or as what is wrong, and behind the latter what is to be done. A pronoun at the
 * beginning gives way to what was named before. Weights were chosen by hand on the set `notes` of the folder eval.
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

/** What speaks for the first clause where it tells nothing itself, and against each later one. */
const FIRST = 0.5;
const LATER = 0.3;

/** How well a clause does as a title. */
function scoreOf({ text, isAction, doubt }: ClauseReading, clause: string, language: string): number {
  const topics = countTopics(withoutRating(text), language);
  return (
    (tellsIssue(clause, language) ? 2 : 0) +
    (isAction ? 0.5 : 0) +
    Math.min(topics, 3) * 0.75 -
    doubt -
    (withoutRating(clause) === clause ? 0 : 1) -
    (topics === 0 ? 4 : 0) -
    (text.length > TITLE_MAX_CHARS ? 0.25 : 0)
  );
}

/** Whether what is to be done says more than "fix that": in German with a noun, which has a capital. */
function saysWhat(action: string, language: string): boolean {
  const isBack = titleWords(language).object.test(action);
  const isEnough = language === "de" ? /\p{Lu}/u.test(action) : noteWords(action, language).length > 2;
  return countTopics(action, language) > 0 && (isEnough || !isBack);
}

/** What the clause behind one is about: of two names in a row the first, as in "Mr Kelleher, the man with the bike". */
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

/** Returns a clause as a title, with the name of what it continues about. */
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

/** What stands for the verb of a pronoun that goes: "it's broken", "they're late", "whose bike is gone". */
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

/** One line without a mark at its end, cut between two phrases where it is too long. */
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

/** A text up to the last phrase that still fits: the words before a preposition or a conjunction. */
function shortened(text: string, language: string): string {
  if (text.length <= TITLE_MAX_CHARS) return text;
  const ends = noteWords(text, language).filter(
    ({ kind, start }) => ["place", "and", "ask"].includes(kind) && start <= TITLE_MAX_CHARS,
  );
  // Of "between the second and the third floor" nothing stays.
  const last = ends.findLast(({ kind, start }) => kind === "place" && start > TITLE_MAX_CHARS / 2) ?? ends.at(-1);
  const end = last?.start ?? 0;
  return end < TITLE_MAX_CHARS / 3 ? text : trimEnd(text.slice(0, end), /[\s,]/);
}

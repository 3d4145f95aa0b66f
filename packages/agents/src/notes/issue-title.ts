import { capitalOf } from "./capital-of.ts";
import { isGivenName, namedDays, withoutDue } from "./issue-facts.ts";
import { tellsIssue, withoutRating } from "./issue-words.ts";
import { ANY_WORDS, expressionOf, hasPhrase, languageWords, sourceOf } from "./language-words.ts";
import { noteWords } from "./note-words.ts";
import { topicTest } from "./topic-words.ts";
import { trimEnd } from "./trim-end.ts";

/** So long a title may be, in UTF-16 units: it fits into a line of a list. */
export const TITLE_MAX_CHARS = 80;

/** What a title says is named in so many words at most. */
const LONGEST_TOPIC = 8;

/** A clause as a title, and how well it does. */
interface TitleCandidate {
  title: string;
  score: number;
  isAction: boolean;
}

/** What a clause names, and whether that is all of it: "the fire door at the back, it does not close". */
interface Topic {
  text: string;
  isAlone: boolean;
}

/** The clauses of sentences in a language (ISO 639-1). */
export function clausesOf(texts: readonly string[], language: string): string[] {
  const { joins, next } = languageWords(language);
  const between = expressionOf(`[,;:!?…–—]+\\s+|\\s-\\s|\\s(?=(?:${sourceOf(joins)}|${sourceOf(next)})\\s)`, "giu");
  return texts.flatMap((text) => text.split(between)).flatMap((clause) => splitAfterDays(trimEnd(clause.trim(), /[.?!\s]/), language));
}

/** So many words has a clause at least, of speech without commas. */
const LEAST_WORDS = 4;

/** Speech without commas begins with another thing behind a day by which something is due. */
function splitAfterDays(clause: string, language: string): string[] {
  const wordsOf = (text: string) => text.trim().split(/\s+/).length;
  const starts = dayEnds(clause, language).filter(
    (at) => wordsOf(clause.slice(0, at)) >= LEAST_WORDS && wordsOf(clause.slice(at)) >= LEAST_WORDS,
  );
  const bounds = [0, ...starts, clause.length];
  return bounds.slice(1).map((end, index) => clause.slice(bounds[index], end).trim());
}

/** Where a text goes on behind a day with another clause. */
export function dayEnds(text: string, language: string): number[] {
  const words = noteWords(text, language);
  return namedDays(text, language, new Date(0)).flatMap(({ end }) => {
    const next = words.find(({ start }) => start >= end);
    return next !== undefined && (next.kind === "article" || next.kind === "person" || next.kind === "and") ? [next.start] : [];
  });
}

/**
 * A text without what speech begins it with, as far as a word stays: "So, and the lamp is broken" is "the lamp is broken".
 */
export function withoutRunUp(text: string, language: string): string {
  const lead = expressionOf(`^${sourceOf(languageWords(language).runUp)}[\\s,:]*(?=\\S)`);
  let rest = text;
  for (;;) {
    const next = rest.replace(lead, "");
    if (next === rest) return rest;
    rest = next;
  }
}

/**
 * What an issue is about in a line, from the sentences that tell of it: the first clause that says it without those around
 * it, as what is to be done or as what is wrong. A pronoun at the beginning gives way to what was named before.
 */
export function issueTitle(texts: readonly string[], language: string): string {
  const clauses = clausesOf(texts, language).map((clause) => withoutRunUp(clause, language));
  let named: Topic | null = null;
  let best: TitleCandidate | null = null;
  let toDo: string | null = null;
  for (const [index, clause] of clauses.entries()) {
    const read = readClause(clause, named, language);
    const count = countTopics(withoutRating(read.text), language);
    const score =
      (tellsIssue(clause, language) ? 2 : 0) +
      (read.isAction ? 0.5 : 0) +
      Math.min(count, 3) * 0.75 -
      read.doubt -
      (withoutRating(clause) === clause ? 0 : 1) -
      (count === 0 ? 4 : 0) -
      (read.text.length > TITLE_MAX_CHARS ? 0.25 : 0) -
      (index === 0 && !read.isAction && topicOf(clause, language) !== null ? -1 : 0) -
      index * 0.3;
    if (best === null || score > best.score) best = { title: read.text, score, isAction: read.isAction };
    toDo ??= actionOf(clause, language);
    named = nextTopic(named, read.isAction ? null : topicOf(clause, language), { clause, language });
  }
  const title = asLine(best?.title ?? texts.join(" "), language).replace(/^\p{Ll}/u, (letter) => capitalOf(letter, language));
  if (toDo === null || best === null || best.isAction || title.includes(":")) return title;
  const both = `${title}: ${asLine(toDo, language)}`;
  return both.length <= TITLE_MAX_CHARS && countTopics(toDo, language) > 0 ? both : title;
}

/** What the clause behind one is about: of two names in a row the first, as in "Mr Kelleher, the man with the bike". */
function nextTopic(
  named: Topic | null,
  text: string | null,
  { clause, language }: { clause: string; language: string },
): Topic | null {
  const isAlone = text === clause;
  if (named !== null && text === null && noteWords(clause, language)[0]?.kind === "place") return named;
  if (text === null || (isAlone && named?.isAlone === true)) return named === null ? null : { ...named, isAlone };
  return { text, isAlone };
}

/** What a clause says as a title, with the name of what it goes on about, and how little that is sure to be right. */
function readClause(
  clause: string,
  named: Topic | null,
  language: string,
): { text: string; isAction: boolean; doubt: number } {
  const { articles, objects, pronouns } = languageWords(language);
  const object = expressionOf(sourceOf(objects), "u");
  const withoutArticle = (text: string) => text.replace(expressionOf(`^${sourceOf(articles)} `), "");
  const action = actionOf(clause, language);
  if (action !== null) {
    const what = withoutDue(language === "de" ? withoutArticle(action) : action, language);
    const isBack = object.test(what);
    if (!isBack && countTopics(what, language) > 1) return { text: what, isAction: true, doubt: 0 };
    if (named === null) return { text: what, isAction: true, doubt: isBack ? 2.5 : 1 };
    const said = language === "de" ? withoutArticle(named.text) : withoutCapital(named.text);
    if (language === "de") {
      const rest = what.replaceAll(expressionOf(`${sourceOf(objects)}\\s*`, "gu"), "");
      return { text: `${said} ${rest}`, isAction: true, doubt: isBack ? 1.25 : 0.75 };
    }
    return { text: isBack ? what.replace(object, said) : `${named.text}: ${what}`, isAction: true, doubt: 0.75 };
  }
  const said = uninverted(clause, language);
  const doubled = expressionOf(
    `^(?<topic>\\S+ (?:\\S+ ){0,${LONGEST_TOPIC - 1}}?)(?:is |are )?(?=${sourceOf(pronouns)}\\s)`,
    "u",
  );
  const match = doubled.exec(said);
  const topic = match?.groups?.["topic"]?.trim();
  const isOwn = topic !== undefined && topicOf(topic, language) === topic;
  const rest = withoutCapital(isOwn ? said.slice(match?.[0].length ?? 0) : said);
  const about = isOwn ? topic : (named?.text ?? null);
  const begin = expressionOf(`^${sourceOf(pronouns)}\\s+`, "u");
  if (begin.test(rest)) {
    if (about === null) return { text: rest, isAction: false, doubt: 2.5 };
    const short = /^(?:\p{L}+['’](?<verb>s|re)|(?<owner>whose))\s/iu.exec(rest)?.groups;
    const between = short?.["owner"] !== undefined ? "'s " : ({ s: " is ", re: " are " }[short?.["verb"] ?? ""] ?? " ");
    return { text: `${about}${between}${rest.replace(begin, "")}`, isAction: false, doubt: 0 };
  }
  if (named?.isAlone === true && about !== null && expressionOf(`^${breaksOf(language)}`).test(rest)) {
    return { text: `${about} ${rest}`, isAction: false, doubt: 0 };
  }
  if (about !== null && expressionOf(`^${sourceOf(objects)}\\s`, "u").test(rest)) {
    return { text: `${about}: ${uninverted(rest.replace(/^\S+\s+/u, ""), language)}`, isAction: false, doubt: 1 };
  }
  return { text: said, isAction: false, doubt: 0 };
}

const withoutCapital = (text: string) => text.replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase());

/** A German clause with its subject first: "ist die Tür verklemmt", behind a word that went, is "die Tür ist verklemmt". */
function uninverted(clause: string, language: string): string {
  if (language !== "de") return clause;
  const verbFirst = expressionOf(`^(?<verb>${breaksOf(language)}) (?<subject>(?:\\p{Ll}+ ){0,3}?\\p{Lu}[\\p{L}-]+)(?<rest>.*)$`, "u");
  return withoutCapital(clause).replace(verbFirst, "$<subject> $<verb>$<rest>");
}

/** What a clause names before its verb: "the fire door at the back". Null where it begins with a verb or a pronoun. */
export function topicOf(clause: string, language: string): string | null {
  const head = uninverted(clause, language).split(expressionOf(`\\s(?=${breaksOf(language)})`))[0] ?? "";
  const words = noteWords(head, language);
  // Who writes nouns without capitals, leaves German articles and pronouns alike.
  const pronouns = language === "de" && head === head.toLowerCase() ? [] : languageWords(language).pronouns;
  const begins = expressionOf(`^(?:${breaksOf(language)}|${sourceOf(pronouns)}(?!\\p{L}))`, "u");
  const isName = words.length > 0 && words.length <= LONGEST_TOPIC && words[0]?.kind !== "place";
  return isName && countTopics(head, language) > 0 && !hasPhrase(head, ANY_WORDS.high) && !begins.test(withoutCapital(head)) ? head : null;
}

/** How many words of a text say what it is about. */
function countTopics(text: string, language: string): number {
  const isTopic = topicTest(language);
  return noteWords(text, language).filter(({ word, kind }) => kind !== "number" && isTopic(word)).length;
}

const breaksOf = (language: string) => `${sourceOf(languageWords(language).breaks)}(?![\\p{L}\\p{N}])`;

/** What a clause asks for, as what is to be done: "somebody should call Anna back" is "call Anna back". */
export function actionOf(clause: string, language: string): string | null {
  const { actions = [], commits = [], subjects, titles } = languageWords(language);
  const who = `(?:(?:der |die |the )?(?:${sourceOf(titles)}\\.? )?(?<name>\\p{L}[\\p{L}'’-]+)(?: \\p{Lu}\\p{L}+)?)`;
  const fill = (pattern: string) => {
    let count = 0;
    const name = () => who.replace("<name>", `<name${(count += 1)}>`);
    return pattern
      .replaceAll("{subject}", () => `(?:${(subjects ?? []).join("|")})`)
      .replaceAll("{who}", name);
  };
  for (const pattern of actions) {
    const groups = expressionOf(fill(pattern)).exec(clause)?.groups;
    if (groups?.["what"] === undefined) continue;
    const names = Object.entries(groups).filter(([key, name]) => key.startsWith("name") && name !== undefined);
    if (names.every(([, name]) => isPersonal(name ?? "", language))) return groups["what"];
  }
  for (const pattern of commits) {
    const { verb2, verb = verb2, what } = expressionOf(pattern).exec(clause)?.groups ?? {};
    if (what !== undefined && verb !== undefined) return withInfinitive(what, verb, language);
  }
  return null;
}

/** A name is one that is known, or has a title, or at least a capital. */
const isPersonal = (name: string, language: string) =>
  isGivenName(name) || (language !== "de" && /^\p{Lu}\p{Ll}/u.test(name) && !hasPhrase(name, languageWords(language).runUp));

/** "Anna morgen an" with the verb "ruf" is "Anna morgen anrufen". */
function withInfinitive(what: string, verb: string, language: string): string {
  const infinitive = `${verb}${/(?:el|er)$/.test(verb) ? "n" : "en"}`;
  const [, rest = what, particle = ""] = expressionOf(`^(.*?)(?: (${(languageWords(language).particles ?? []).join("|")}))?$`).exec(what) ?? [];
  return `${withoutDue(rest, language)} ${particle}${infinitive}`;
}

/** One line without a mark at its end, cut between two phrases where it is too long. */
function asLine(text: string, language: string): string {
  const { trim } = languageWords(language);
  const end = expressionOf(`[\\s,.;:!?]+$|\\s*${sourceOf(trim)}$`);
  let rest = withoutRunUp(text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim(), language);
  for (;;) {
    const next = withoutLooseEnd(withoutDue(rest.replace(end, ""), language), language);
    if (next === rest || !/\p{L}\s+\p{L}/u.test(next)) break;
    rest = next;
  }
  return shortened(rest, language);
}

/** A text without an article, a conjunction or the "by" of a day that went at its end. */
function withoutLooseEnd(text: string, language: string): string {
  const last = noteWords(text, language).at(-1);
  if (last === undefined) return text;
  const isLoose = last.kind === "article" || last.kind === "and" || hasPhrase(last.word, languageWords(language).due?.by);
  return isLoose ? text.slice(0, last.start).trim() : text;
}

/** A text up to the last phrase that still fits: the words before a preposition or a conjunction. */
function shortened(text: string, language: string): string {
  if (text.length <= TITLE_MAX_CHARS) return text;
  const ends = noteWords(text, language).filter(
    ({ kind, start }) => (kind === "place" || kind === "and" || kind === "ask") && start <= TITLE_MAX_CHARS,
  );
  // Of "between the second and the third floor" nothing stays.
  const last = ends.findLast(({ kind, start }) => kind === "place" && start > TITLE_MAX_CHARS / 2) ?? ends.at(-1);
  const end = last?.start ?? 0;
  return end < TITLE_MAX_CHARS / 3 ? text : trimEnd(text.slice(0, end), /[\s,]/);
}

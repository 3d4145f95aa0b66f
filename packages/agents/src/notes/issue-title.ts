import { tokenize } from "@svc/text";
import { capitalOf } from "./capital-of.ts";
import { isGivenName, namedDays, withoutDue } from "./issue-facts.ts";
import { tellsIssue, withoutRating } from "./issue-words.ts";
import { expressionOf, hasPhrase, languageWords, sourceOf } from "./language-words.ts";
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
  return texts.flatMap((text) => text.split(between)).flatMap((clause) => splitAfterDays(clause.trim(), language));
}

/** Speech without commas begins with another thing behind a day by which something is due. */
function splitAfterDays(clause: string, language: string): string[] {
  const starts = dayEnds(clause, language);
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
  const { runUp, joins = [] } = languageWords(language);
  const lead = expressionOf(`^${sourceOf([...runUp, ...joins])}[\\s,:]*(?=\\S)`);
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
  const isTopic = topicTest(language);
  const topics = (text: string) =>
    noteWords(text, language).filter(({ word, kind }) => kind !== "number" && isTopic(word)).length;
  let named: Topic | null = null;
  let best: TitleCandidate | null = null;
  for (const [index, clause] of clauses.entries()) {
    const { text, isAction, isBack } = readClause(clause, named, language);
    const count = topics(withoutRating(text));
    const score =
      (tellsIssue(clause, language) ? 2 : 0) +
      (isAction ? 0.5 : 0) +
      Math.min(count, 3) * 0.75 -
      (isBack ? 2.5 : 0) -
      (count === 0 ? 4 : 0) -
      (text.length > TITLE_MAX_CHARS ? 0.5 : 0) -
      index * 0.3;
    if (best === null || score > best.score) best = { title: text, score };
    const topic = topicOf(clause, language);
    if (topic !== null) named = { text: topic, isAlone: topic === clause };
  }
  return asTitle(best?.title ?? texts.join(" "), language);
}

/** What a clause says as a title, with the name of what it goes on about. */
function readClause(clause: string, named: Topic | null, language: string) {
  const { breaks, pronouns, refersBack } = languageWords(language);
  const action = actionOf(clause, language);
  if (action !== null) {
    return { text: action, isAction: true, isBack: expressionOf(sourceOf(refersBack), "u").test(action) };
  }
  const said = uninverted(clause, language);
  const doubled = expressionOf(`^(?<topic>\\S+ (?:\\S+ ){0,${LONGEST_TOPIC - 1}}?)(?:is |are )?(?=${sourceOf(pronouns)}\\s)`, "u");
  const match = doubled.exec(said);
  const topic = match?.groups?.["topic"]?.trim();
  const isOwn = topic !== undefined && topicOf(topic, language) === topic;
  const rest = isOwn ? said.slice(match?.[0].length ?? 0) : said;
  const about = isOwn ? topic : named?.text;
  const begin = expressionOf(`^${sourceOf(pronouns)}\\s+`, "u");
  const isBack = begin.test(withoutCapital(rest));
  const hasNoSubject = named?.isAlone === true && expressionOf(`^${sourceOf(breaks)}\\s`).test(rest);
  if (!isBack && !hasNoSubject) return { text: rest, isAction: false, isBack: false };
  if (about === undefined) return { text: rest, isAction: false, isBack: true };
  const verb = /^\p{L}+['’](?<short>s|re)\s/iu.exec(rest)?.groups?.["short"];
  const goesOn = isBack ? withoutCapital(rest).replace(begin, "") : withoutCapital(rest);
  return { text: `${about} ${verb === "s" ? "is " : verb === "re" ? "are " : ""}${goesOn}`, isAction: false, isBack: false };
}

const withoutCapital = (text: string) => text.replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase());

/** A German clause with its subject first: "ist die Tür verklemmt", behind a word that went, is "die Tür ist verklemmt". */
function uninverted(clause: string, language: string): string {
  if (language !== "de") return clause;
  const verbFirst = expressionOf(`^(?<verb>${sourceOf(languageWords(language).breaks)}) (?<subject>(?:\\p{Ll}+ ){0,3}?\\p{Lu}[\\p{L}-]+)(?<rest>.*)$`, "u");
  return withoutCapital(clause).replace(verbFirst, "$<subject> $<verb>$<rest>");
}

/** What a clause names before its verb: "the fire door at the back". Null where it begins with a verb or a pronoun. */
function topicOf(clause: string, language: string): string | null {
  const { breaks, pronouns } = languageWords(language);
  const head = clause.split(expressionOf(`\\s(?=${sourceOf(breaks)})`, "iu"))[0] ?? "";
  const isTopic = topicTest(language);
  const words = tokenize(head);
  if (noteWords(head, language)[0]?.kind === "place") return null;
  if (words.length === 0 || words.length > LONGEST_TOPIC || !words.some(({ term }) => isTopic(term))) return null;
  return expressionOf(`^${sourceOf([...(breaks ?? []), ...(pronouns ?? [])])}(?!\\p{L})`).test(head) && words.length < 2 ? null : head;
}

/** What a clause asks for, as what is to be done: "somebody should call Anna back" is "call Anna back". */
function actionOf(clause: string, language: string): string | null {
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

/** One line that begins with a capital, without a mark at its end, cut between two phrases where it is too long. */
function asTitle(text: string, language: string): string {
  const { trim } = languageWords(language);
  const end = expressionOf(`[\\s,.;:!?]+$|\\s*${sourceOf(trim)}$`);
  let rest = withoutRunUp(text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim(), language);
  for (;;) {
    const next = withoutDue(rest.replace(end, ""), language);
    if (next === rest || !/\p{L}\s+\p{L}/u.test(next)) break;
    rest = next;
  }
  return shortened(rest, language).replace(/^\p{Ll}/u, (letter) => capitalOf(letter, language));
}

/** A text up to the last phrase that still fits: the words before a preposition or a conjunction. */
function shortened(text: string, language: string): string {
  if (text.length <= TITLE_MAX_CHARS) return text;
  const ends = noteWords(text, language).filter(
    ({ kind, start }) => (kind === "place" || kind === "and" || kind === "ask") && start <= TITLE_MAX_CHARS,
  );
  const end = ends.at(-1)?.start ?? 0;
  return end < TITLE_MAX_CHARS / 3 ? text : trimEnd(text.slice(0, end), /[\s,]/);
}

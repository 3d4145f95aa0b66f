import { splitSentences } from "@svc/text";
import { isGivenName, namedDays, withoutDue } from "./issue-facts.ts";
import { perLanguage, sourceOf, anyWords, hasPhrase, languageWords } from "./language-words.ts";
import { noteWords, topicTest, trimEnd } from "./note-words.ts";

/** Maximum number of words of a clause's topic. */
const LONGEST_TOPIC = 8;

/** Minimum number of words of a clause, in speech without commas. */
const LEAST_CLAUSE_WORDS = 4;

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
    (at) => wordsOf(clause.slice(0, at)) >= LEAST_CLAUSE_WORDS && wordsOf(clause.slice(at)) >= LEAST_CLAUSE_WORDS,
  );
  const bounds = [0, ...starts, clause.length];
  return bounds.slice(1).map((end, index) => clause.slice(bounds[index], end).trim());
}

/** Returns the offsets where another clause begins after a day. */
function dayEnds(text: string, language: string): number[] {
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

/** A sentence, list item or heading of notes, or a section of speech without full stops. */
export interface NotePart {
  /** Offset of its first UTF-16 unit in the notes, after the mark of a list item or heading. */
  start: number;
  /** Offset after its last UTF-16 unit. */
  end: number;
  /** `- `, `1. `, `## ` or `Anna: `, if it has one. */
  mark: string;
  /** Speaker, if a name with a colon precedes it or the part it continues. */
  speaker: string | null;
  kind: "sentence" | "item" | "heading";
  /** Whether it continues the line of the part before it, without or with a space, or begins a line or a paragraph. */
  begins: "nothing" | "word" | "line" | "paragraph";
}

const MARK = /^(?:[ \t]*(?:[-*+•–]|\d{1,3}[.)]|\[[ xX]?\])[ \t]+)+/u;
const HEADING_MARK = /^#{1,6}[ \t]+/u;

/** Number of words after which speech without full stops is split, before words that begin a new topic. */
export const RUN_ON_WORDS = 30;
const LEAST_WORDS = 6;
/** Number of words after which it is always split. */
const MOST_WORDS = 80;

/** Matches a speaker's name in a transcript. */
const LABEL =
  /^(?:\[?\d{1,2}(?::\d{2}){1,2}\]?[ \t]+)?\*{0,2}(?<name>\p{Lu}[\p{L}\p{M}\p{N}'’.-]*(?: [\p{Lu}\p{N}][\p{L}\p{M}\p{N}'’.-]*){0,2})(?: \([^()\n]{1,40}\))?\*{0,2}:\*{0,2}[ \t]+/u;

/**
 * Splits notes in a language (ISO 639-1) into parts, in reading order; together they contain everything except white
 * space and marks.
 */
export function noteParts(notes: string, language: string): NotePart[] {
  const parts: NotePart[] = [];
  const isSpeaker = speakerTest(notes);
  let before = 0;
  let speaker: string | null = null;
  for (const line of linesOf(notes)) {
    for (const { start, end, kind } of splitSentences(line.text)) {
      const from = line.start + start;
      const text = notes.slice(from, line.start + end);
      const begins = parts.length === 0 ? "paragraph" : beginsOf(notes.slice(before, from));
      const label = LABEL.exec(text);
      const name = label?.groups?.["name"] ?? "";
      const isSaid = label !== null && isSpeaker(name);
      const listMark = start === 0 ? (HEADING_MARK.exec(text)?.[0] ?? MARK.exec(text)?.[0]) : undefined;
      const mark = isSaid ? label[0] : (listMark ?? "");
      const isHeading = !isSaid && (kind === "heading" || mark.startsWith("#"));
      if (isSaid) speaker = name;
      else if (begins === "paragraph" || mark !== "") speaker = null;
      const body = { start: from + mark.length, end: line.start + end };
      before = body.end;
      if (body.start >= body.end) continue;
      const whole: NotePart = {
        ...body,
        mark,
        speaker,
        begins,
        kind: isHeading ? "heading" : mark === "" || isSaid ? "sentence" : "item",
      };
      parts.push(...cutRunOn(notes, whole, language));
    }
  }
  return parts;
}

/** Returns a function that distinguishes a speaker's name from "Important:": it is known, or is repeated. */
function speakerTest(notes: string): (name: string) => boolean {
  const counts = new Map<string, number>();
  for (const line of notes.split("\n")) {
    const name = LABEL.exec(line.trim())?.groups?.["name"];
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return (name) => (counts.get(name) ?? 0) > 1 || isGivenName(name);
}

function beginsOf(gap: string): NotePart["begins"] {
  const lines = gap.match(/\n/g)?.length ?? 0;
  if (lines > 0) return lines > 1 ? "paragraph" : "line";
  return gap === "" ? "nothing" : "word";
}

/** Splits dictated text into lines: a line never continues on the next one. */
function linesOf(notes: string): { text: string; start: number }[] {
  let start = 0;
  return notes.split("\n").map((text) => {
    const line = { text, start };
    start += text.length + 1;
    return line;
  });
}

const nextThought = perLanguage(({ next, nextSpoken }) => ({
  next: new RegExp(`(?<=\\s)${sourceOf(next)}(?=\\s)`, "giu"),
  nextSpoken: new RegExp(`(?<=\\s)${sourceOf(nextSpoken)}(?=\\s)`, "giu"),
}));

function cutRunOn(notes: string, part: NotePart, language: string): NotePart[] {
  const text = notes.slice(part.start, part.end);
  const starts = [...text.matchAll(/\S+/g)].map(({ index }) => index);
  // The speaker's name counts towards the length of a line.
  const named = part.speaker === null ? 0 : part.mark.trim().split(/\s+/).length;
  if (named + starts.length <= RUN_ON_WORDS) return [part];
  const positionOf = new Map(starts.map((start, position) => [start, position]));
  const cuts: number[] = [];
  let from = -named;
  const { next, nextSpoken } = nextThought(language);
  // Dictation with commas has full stops as well.
  const isBare = !text.includes(",");
  const positionsOf = (phrases: RegExp) => [...text.matchAll(phrases)].map(({ index }) => index);
  const positions = [...positionsOf(next), ...(isBare ? [...positionsOf(nextSpoken), ...dayEnds(text, language)] : [])];
  for (const index of positions.toSorted((a, b) => a - b)) {
    const position = positionOf.get(index) ?? from;
    if (position - from < LEAST_WORDS || starts.length - position < LEAST_WORDS) continue;
    cuts.push(index);
    from = position;
  }
  const bounds = [0, ...cuts, text.length];
  const pieces = bounds.slice(1).flatMap((end, index) => cutLong(text, bounds[index] ?? 0, end));
  return pieces.map(([start, end], index) => ({
    ...part,
    start: part.start + start,
    end: part.start + end,
    ...(index === 0 ? {} : { mark: "", begins: "word" }),
  }));
}

/** Splits a range into sections of at most `MOST_WORDS` words, without white space at their ends. */
function cutLong(text: string, from: number, to: number): [start: number, end: number][] {
  const words = [...text.slice(from, to).matchAll(/\S+/g)];
  const pieces: [number, number][] = [];
  for (let index = 0; index < words.length; index += MOST_WORDS) {
    const [first, last] = [words[index], words[Math.min(index + MOST_WORDS, words.length) - 1]];
    if (first === undefined || last === undefined) continue;
    pieces.push([from + first.index, from + last.index + last[0].length]);
  }
  return pieces;
}

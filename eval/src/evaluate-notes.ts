// Sentences with slips of speech, each as a note: the share that is cleaned correctly.
import { summarizeNotes } from "@svc/agents";
import { mean, share } from "@svc/cli";
import { compareTokens } from "@svc/text";
import { forEachShown } from "./read-set.ts";
import type { Evaluation, Meeting, NoteQuery, SetOf, WantedIssue } from "./read-set.ts";

// ROUGE (Lin 2004) with Porter's stemmer: how much of the words of two texts is the same. F1 of each.
// Porter's stemmer for English (M. F. Porter, An algorithm for suffix stripping, 1980).

const LONG_SUFFIXES = {
  ational: "ate", tional: "tion", enci: "ence", anci: "ance", izer: "ize", bli: "ble", alli: "al", entli: "ent",
  eli: "e", ousli: "ous", ization: "ize", ation: "ate", ator: "ate", alism: "al", iveness: "ive", fulness: "ful",
  ousness: "ous", aliti: "al", iviti: "ive", biliti: "ble", logi: "log",
}; // prettier-ignore
const MIDDLE_SUFFIXES = { icate: "ic", ative: "", alize: "al", iciti: "ic", ical: "ic", ful: "", ness: "" };
const LAST_SUFFIXES = [
  "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
  "sion", "tion", "al", "er", "ic", "ou",
]; // prettier-ignore

/** Returns vowels and consonants of a word as a string of v and c. A y after a consonant is a vowel. */
function shapeOf(word: string) {
  let shape = "";
  for (const letter of word) shape += "aeiou".includes(letter) || (letter === "y" && shape.endsWith("c")) ? "v" : "c";
  return shape;
}

/** Counts vowels that are followed by a consonant. */
const measure = (word: string) => shapeOf(word).match(/v+c/g)?.length ?? 0;
const hasVowel = (word: string) => shapeOf(word).includes("v");
const endsShort = (word: string) => shapeOf(word).endsWith("cvc") && !/[wxy]$/.test(word);

function replaceSuffix(word: string, suffixes: Record<string, string>) {
  const suffix = Object.keys(suffixes)
    .filter((ending) => word.endsWith(ending))
    .sort((a, b) => b.length - a.length)[0];
  if (suffix === undefined) return word;
  const stem = word.slice(0, -suffix.length);
  return measure(stem) > 0 ? `${stem}${suffixes[suffix]}` : word;
}

/** Returns the stem of a word in lower case. */
function porterStem(given: string): string {
  if (given.length < 3) return given;
  let word = given;
  if (/(?:ss|i)es$/.test(word)) word = word.slice(0, -2);
  else if (/[^s]s$/.test(word)) word = word.slice(0, -1);

  if (word.endsWith("eed")) {
    if (measure(word.slice(0, -3)) > 0) word = word.slice(0, -1);
  } else {
    const stem = word.replace(/(?:ed|ing)$/, "");
    if (stem !== word && hasVowel(stem)) word = mendEnd(stem);
  }
  if (word.endsWith("y") && hasVowel(word.slice(0, -1))) word = `${word.slice(0, -1)}i`;
  word = replaceSuffix(replaceSuffix(word, LONG_SUFFIXES), MIDDLE_SUFFIXES);

  const last = LAST_SUFFIXES.find((suffix) => word.endsWith(suffix));
  if (last !== undefined) {
    const stem = word.slice(0, -(last === "sion" || last === "tion" ? 3 : last.length));
    if (measure(stem) > 1) word = stem;
  }
  if (word.endsWith("e")) {
    const stem = word.slice(0, -1);
    if (measure(stem) > 1 || (measure(stem) === 1 && !endsShort(stem))) word = stem;
  }
  return word.endsWith("ll") && measure(word) > 1 ? word.slice(0, -1) : word;
}

function mendEnd(stem: string) {
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/([^aeiouylsz])\1$/.test(stem)) return stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

const stemsOf = (text: string) => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(porterStem);
const pairsOf = (stems: readonly string[]) => stems.slice(1).map((stem, index) => `${stems[index]} ${stem}`);

export const rouge = {
  one: (text: string, reference: string) => compareTokens(stemsOf(text), stemsOf(reference)).f1,
  two: (text: string, reference: string) => compareTokens(pairsOf(stemsOf(text)), pairsOf(stemsOf(reference))).f1,
  longest: (text: string, reference: string) => compareTokens(stemsOf(text), stemsOf(reference)).rougeL,
};

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Predictions `{id, text}` and scores. */
export async function evaluateNotes({ queries }: SetOf<"notes">): Promise<Evaluation> {
  const startedAt = performance.now();
  const predictions = await forEachShown("cleaned", queries, async ({ id, text }) => ({
    id,
    text: (await summarizeNotes({ notes: text, locale: "en" })).cleanedText,
  }));
  const queryMs = (performance.now() - startedAt) / queries.length;
  return { predictions, scores: { ...scoresOf(queries, predictions), queryMs } };
}

function scoresOf(queries: readonly NoteQuery[], predictions: readonly { text: string }[]) {
  const known = queries.flatMap(({ fluent }, index) => {
    if (fluent === undefined) return [];
    const [given, wanted] = [wordsOf(predictions[index]?.text ?? ""), wordsOf(fluent)];
    return [{ errors: editDistance(given, wanted), length: wanted.length }];
  });
  const errorsAWord =
    known.length === 0
      ? null
      : (mean(known.map(({ errors }) => errors)) ?? NaN) / (mean(known.map(({ length }) => length)) ?? NaN);
  return {
    sentences: known.length,
    exactMatch: share(known, ({ errors }) => errors === 0),
    wordErrorRate: errorsAWord,
  };
}

/** Counts words to insert, delete or replace (Levenshtein). */
function editDistance(one: readonly string[], other: readonly string[]): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, word] of one.entries()) {
    let last = index + 1;
    const next = [last];
    for (const [column, wanted] of other.entries()) {
      const [replaced = 0, left = 0] = row.slice(column, column + 2);
      last = Math.min(replaced + (word === wanted ? 0 : 1), left + 1, last + 1);
      next.push(last);
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

// Transcripts of meetings, as notes of one line per turn: the similarity of summaries to those of people, and how often
// one of the ten passages for a question is in the right part.

/** Predictions `{id, summary}` and `{id, question, turns}`, and scores. */
export async function evaluateMeetings({ queries }: SetOf<"meetings">): Promise<Evaluation> {
  const startedAt = performance.now();
  const predictions = await forEachShown("summed up", queries, async ({ id, turns }) => {
    const notes = turns.map(({ text }) => text).join("\n");
    return { id, summary: (await summarizeNotes({ notes, locale: "en" })).summary };
  });
  const queryMs = (performance.now() - startedAt) / queries.length;
  const answered = await answerQuestions(queries);
  const known = queries.flatMap(({ summary }, index) =>
    summary?.[0] === undefined ? [] : [{ said: predictions[index]?.summary ?? "", wanted: summary[0].text }],
  );
  const meanOf = (kind: keyof typeof rouge) => mean(known.map(({ said, wanted }) => rouge[kind](said, wanted)));
  const scores = { meetings: known.length, rouge1: meanOf("one"), rouge2: meanOf("two"), rougeL: meanOf("longest") };
  const asked = queries.flatMap(({ id, questions = [] }) =>
    questions.map(({ spans }, question) => ({ id, question, spans })),
  );
  const hits = answered.filter((one, index) => isHit(one.turns, asked[index]?.spans));
  const wasAsked = asked.length > 0 && asked.every(({ spans }) => spans !== undefined);
  const questions = { questions: asked.length, hitInTen: wasAsked ? hits.length / asked.length : null };
  return { predictions: [...predictions, ...answered], scores: { ...scores, ...questions, queryMs } };
}

const isHit = (turns: readonly number[], spans: readonly [from: number, to: number][] | undefined) =>
  spans !== undefined && turns.slice(0, 10).some((turn) => spans.some(([from, to]) => turn >= from && turn <= to));

/** Returns for each question the turns of its passages, best first. The speaker precedes the text. */
async function answerQuestions(queries: readonly Meeting[]) {
  const asked = queries.flatMap((meeting) =>
    (meeting.questions ?? []).map(({ query }, question) => ({ meeting, query, question })),
  );
  return forEachShown("asked", asked, async ({ meeting: { id, turns }, query, question }) => {
    const lines = turns.map(({ speaker, text }) => (speaker === undefined ? text : `${speaker}: ${text}`));
    const starts = lines.map((_, index) => lines.slice(0, index).reduce((sum, line) => sum + line.length + 1, 0));
    const { passages = [] } = await summarizeNotes({ notes: lines.join("\n"), locale: "en", question: query });
    return {
      id,
      question,
      turns: [...new Set(passages.map(({ start }) => starts.findLastIndex((from) => from <= start)))],
    };
  });
}

// Spoken notes whose issues are known: how many are found, and how good their titles and fields are.

/** A passage of the notes. */
interface Span {
  start: number;
  end: number;
}
type Issue = NonNullable<Awaited<ReturnType<typeof summarizeNotes>>["issues"]>[number];
/** An issue that was found; `expected` is the number of the matching expected one, or -1. */
type FoundIssue = Issue & { expected: number };

/** What was found in some notes. */
interface Result {
  id: string | number;
  part: string;
  found: FoundIssue[];
  rows: { wanted: WantedIssue; own: FoundIssue[] }[];
}

/** Marks the position of an issue in the notes of the set. */
const MARK = /<(\/?)(\d+)>/g;

/** A title is one line that fits into a list. */
const TITLE_MAX_CHARS = 80;

/** Words that introduce speech and do not belong in a title; also a pronoun, which needs the sentence before it. */
const RUN_UP =
  /^(?:so|and|um|uh|okay|ok|oh|also|then|right|well|hello|hi|it|it's|he|she|they|that|that's|there's|i|i'm|we're|und|also|äh|ähm|dann|ach|ja|so|das|da|die|der|es|er|sie|ich|wir|den|denen|y|e|eh|este|bueno|a ver|luego|ah|también|otra cosa|eso|lo|la|le|yo|que)(?![\p{L}'’])(?! [\p{Lu}])/iu;
const RUN_UP_WITHIN =
  /(?<![\p{L}])(?:um|uh|äh|ähm|you know|what else|was noch|no wait|no sorry|digo|ach ja)(?![\p{L}])/iu;

/** Returns the notes without their marks, and the position of each issue. */
function readMarks(marked: string) {
  const spans: Span[] = [];
  let notes = "";
  let from = 0;
  for (const { 0: mark, 1: isEnd, 2: number, index } of marked.matchAll(MARK)) {
    notes += marked.slice(from, index);
    from = index + mark.length;
    const position = Number(number) - 1;
    if (isEnd === "") spans[position] = { start: notes.length, end: notes.length };
    else spans[position] = { start: spans[position]?.start ?? 0, end: notes.length };
  }
  return { notes: notes + marked.slice(from), spans };
}

const overlap = (one: Span, other: Span) =>
  Math.max(0, Math.min(one.end, other.end) - Math.max(one.start, other.start));

/** Returns the expected issue that a found one quotes most of; -1 if it quotes something else. */
function expectedOf({ quotes }: Issue, spans: readonly Span[]): number {
  const shares = spans.map((span) => quotes.reduce((sum, quote) => sum + overlap(quote, span), 0));
  const most = Math.max(...shares);
  const quoted = quotes.reduce((sum, { start, end }) => sum + end - start, 0);
  return most > quoted / 3 ? shares.indexOf(most) : -1;
}

/** A noun may keep its article, which some languages also use as a pronoun. */
const ARTICLE = /^(?:the|an?|die|der|das|el|la|los|las)(?= \p{L}+ )/iu;

const isUsable = (title: string, gist: string) =>
  title.length <= TITLE_MAX_CHARS &&
  !title.endsWith("…") &&
  !RUN_UP.test(title.replace(ARTICLE, "").trim()) &&
  !RUN_UP_WITHIN.test(title) &&
  new RegExp(gist, "iu").test(title);

/** Predictions `{id, issues}` and scores: of all notes, and of each part of them. */
export async function evaluateSpoken({ queries }: SetOf<"spoken">): Promise<Evaluation> {
  const results = await forEachShown(
    "read",
    queries,
    async ({ id, notes: marked, issues: expected, part, language, day }): Promise<Result> => {
      const { notes, spans } = readMarks(marked);
      const { issues } = await summarizeNotes({ notes, locale: language, date: day });
      const found = issues.map((issue) => ({ ...issue, expected: expectedOf(issue, spans) }));
      const rows = expected.map((wanted, position) => ({
        wanted,
        own: found.filter((issue) => issue.expected === position),
      }));
      return { id, part, found, rows };
    },
  );
  const predictions = results.map(({ id, found, rows }) => ({
    id,
    issues: found,
    missed: rows.filter(({ own }) => own.length === 0).map(({ wanted }) => wanted.gist),
    wrong: rows.flatMap(({ wanted, own: [first] }) => (first === undefined ? [] : wrongFields(first, wanted))),
  }));
  const parts = [...new Set(queries.map(({ part }) => part))].map((name) => [
    name,
    spokenScores(results.filter(({ part }) => part === name)),
  ]);
  return { predictions, scores: { ...spokenScores(results), ...Object.fromEntries(parts) } };
}

const matches = (value: string | undefined, wanted: string | null | undefined) =>
  (wanted ?? "null").split("|").includes(value ?? "null");
const isPerson = (value: string | undefined, wanted: string | null) =>
  wanted === null ? value === undefined : value !== undefined && new RegExp(wanted, "iu").test(value);

function wrongFields({ title, severity, person, dueDate }: Issue, wanted: WantedIssue) {
  const wrong = {
    ...(isUsable(title, wanted.gist) ? {} : { title }),
    ...(matches(severity, wanted.severity) ? {} : { severity }),
    ...(isPerson(person, wanted.person) ? {} : { person: person ?? null }),
    ...(matches(dueDate, wanted.due) ? {} : { dueDate: dueDate ?? null }),
  };
  return Object.keys(wrong).length === 0 ? [] : [{ ...wrong, wanted }];
}

function spokenScores(results: readonly Result[]) {
  const rows = results.flatMap((result) => result.rows);
  const found = rows.flatMap(({ wanted, own: [first] }) => (first === undefined ? [] : [{ wanted, first }]));
  return {
    expected: rows.length,
    found: found.length,
    invented: results.flatMap((result) => result.found).filter(({ expected }) => expected === -1).length,
    split: rows.reduce((sum, { own }) => sum + Math.max(0, own.length - 1), 0),
    titlesUsable: found.filter(({ wanted, first }) => isUsable(first.title, wanted.gist)).length,
    severityRight: share(found, ({ wanted, first }) => matches(first.severity, wanted.severity)),
    personRight: share(found, ({ wanted, first }) => isPerson(first.person, wanted.person)),
    dueRight: share(found, ({ wanted, first }) => matches(first.dueDate, wanted.due)),
  };
}

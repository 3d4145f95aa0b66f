// Spoken notes whose issues are known: how many are found, and how good their titles and fields are.
import { summarizeNotes } from "@svc/agents";
import { share } from "@svc/cli";
import { forEachShown } from "./read-set.ts";
import type { Evaluation, SetOf, WantedIssue } from "./read-set.ts";

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
export async function evaluate({ queries }: SetOf<"spoken">): Promise<Evaluation> {
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
    scoresOf(results.filter(({ part }) => part === name)),
  ]);
  return { predictions, scores: { ...scoresOf(results), ...Object.fromEntries(parts) } };
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

function scoresOf(results: readonly Result[]) {
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

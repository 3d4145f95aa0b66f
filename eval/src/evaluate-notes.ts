// Sentences with slips of speech, each as a note: the share that is cleaned correctly.

import { summarizeNotes } from "@svc/agents";
import { mean, share } from "@svc/cli";
import { forEachShown } from "./read-set.ts";
import type { Evaluation, Meeting, NoteQuery, SetOf } from "./read-set.ts";
import { rouge } from "./rouge.ts";

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

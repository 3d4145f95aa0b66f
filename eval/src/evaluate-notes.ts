// Sentences with slips of speech, each as a note: the share that is cleaned correctly.
import { summarizeNotes } from "@svc/agents";
import { mean, share } from "@svc/cli";
import type { Evaluation, NoteQuery, SetOf } from "./read-set.ts";
import { forEachShown } from "./show-progress.ts";

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Predictions `{id, text}` and scores. */
export async function evaluate({ queries }: SetOf<"notes">): Promise<Evaluation> {
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

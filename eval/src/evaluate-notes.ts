// Sentences with the slips of speech, each as a note: how many come out as they were meant.
import { summarizeNotes } from "@svc/agents";
import { mean, share } from "./measures.ts";
import { forEachShown } from "./show-progress.ts";

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Predictions `{id, text}` and scores. */
export async function evaluate({ queries }) {
  const startedAt = performance.now();
  const predictions = await forEachShown("cleaned", queries, async ({ id, text }) => ({
    id,
    text: (await summarizeNotes({ notes: text, locale: "en" })).cleanedText,
  }));
  const queryMs = (performance.now() - startedAt) / queries.length;
  return { predictions, scores: { ...scoresOf(queries, predictions), queryMs } };
}

function scoresOf(queries, predictions) {
  const known = queries.flatMap(({ fluent }, index) => {
    if (fluent === undefined) return [];
    const [given, wanted] = [wordsOf(predictions[index].text), wordsOf(fluent)];
    return [{ errors: editDistance(given, wanted), length: wanted.length }];
  });
  const errorsAWord =
    known.length === 0 ? null : mean(known.map(({ errors }) => errors)) / mean(known.map(({ length }) => length));
  return {
    sentences: known.length,
    exactMatch: share(known, ({ errors }) => errors === 0),
    wordErrorRate: errorsAWord,
  };
}

/** Words to be put in, left out or replaced (Levenshtein). */
function editDistance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (const [index, word] of one.entries()) {
    const next = [index + 1];
    for (const [place, wanted] of other.entries()) {
      next.push(Math.min(row[place] + (word === wanted ? 0 : 1), row[place + 1] + 1, next[place] + 1));
    }
    row = next;
  }
  return row[other.length];
}

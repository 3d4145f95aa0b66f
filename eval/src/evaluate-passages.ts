// Answers from one passage that may or may not answer: which of its sentences are sent, and how similar the answers are
// to those of people. All passages are in one knowledge base, so that words weigh what they do in the product.
import { answerQuestion } from "@svc/agents";
import { searchKnowledge } from "@svc/knowledge";
import { ingest, rankDocuments } from "./open-scratch-store.ts";
import type { Scratch } from "./open-scratch-store.ts";
import { auroc, mean, rankingScores, share } from "@svc/cli";
import { rouge } from "./rouge.ts";
import { forEachShown } from "./read-set.ts";
import type { Evaluation, PassageQuery, SetOf } from "./read-set.ts";

/** Number of passages requested: enough that the one in question is nearly always included. */
const SEARCH_LIMIT = 100;

interface Prediction {
  id: string | number;
  ranked: string[];
  /** Numbers of the quoted sentences. */
  sentences: number[];
  answer: string | null;
  score: number;
}
type Row = PassageQuery & { predicted: Prediction };

/** Predictions `{id, ranked, sentences, answer, score}` and scores. */
export async function evaluate({ passages, queries }: SetOf<"passages">, scratch: Scratch): Promise<Evaluation> {
  const { store } = scratch;
  const project = await scratch.addProject("evaluation");
  const documents = passages.map(({ id, title, sentences }) => ({ id, title, text: sentences.join(" ") }));
  const { kb, idOf, ingested } = await ingest(documents, scratch, project);
  const agent = await store.agents.insert(project.id, { name: "evaluation", kbIds: [kb.id] });
  const sentencesOf = new Map(passages.map(({ id, sentences }) => [id, sentences]));

  const startedAt = performance.now();
  const predictions = await forEachShown(
    "asked",
    queries,
    async ({ id, text, passage = `p${id}` }): Promise<Prediction> => {
      const found = await searchKnowledge({ store }, project.id, { query: text, kbIds: [kb.id], limit: SEARCH_LIMIT });
      const hits = found.hits.filter(({ documentId }) => idOf.get(documentId) === passage);
      const search = () => Promise.resolve({ ...found, hits });
      const { text: answer, confidence } = await answerQuestion({ agent, text, search });
      return {
        id,
        ranked: rankDocuments(found.hits, idOf),
        sentences: sentencesIn(answer, sentencesOf.get(passage) ?? []),
        answer,
        score: confidence,
      };
    },
  );
  const queryMs = (performance.now() - startedAt) / queries.length;
  return { predictions, scores: { ...scoresOf(queries, predictions), ingested, queryMs } };
}

/** Returns the numbers of the sentences that an answer contains, in any position. */
function sentencesIn(answer: string | null, sentences: readonly string[]): number[] {
  const wordsOf = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
  const sent = wordsOf(answer ?? "");
  return sentences.flatMap((sentence, index) => (sent.includes(wordsOf(sentence)) ? [index] : []));
}

function scoresOf(queries: readonly PassageQuery[], predictions: readonly Prediction[]) {
  const rows = queries.flatMap((query, index): Row[] => {
    const predicted = predictions[index];
    return query.answerable === undefined || predicted === undefined ? [] : [{ ...query, predicted }];
  });
  const answerable = rows.filter((row) => row.answerable);
  const unanswerable = rows.filter((row) => !row.answerable);
  if (answerable.length === 0) return { queries: queries.length };
  const scores = (group: readonly Row[]) => group.map(({ predicted }) => predicted.score);
  const hasAnswer = ({ predicted }: Row) => predicted.answer !== null;
  const picked = answerable.filter(({ refs }) => refs.some(({ sentences }) => sentences.length > 0)).map(bestSentences);
  // A question without an answer has similarity 0 to every reference.
  const rougeOf = (kind: keyof typeof rouge) =>
    mean(
      answerable.map(({ predicted, refs }) =>
        Math.max(...refs.map(({ answer }) => rouge[kind](predicted.answer ?? "", answer))),
      ),
    );
  return {
    retrieval: rankingScores(
      answerable.map(({ passage, predicted }) => ({ relevant: { [String(passage)]: 1 }, ranked: predicted.ranked })),
    ),
    answerable: answerable.length,
    answered: share(answerable, hasAnswer),
    sentence: {
      n: picked.length,
      precision: mean(picked.map(({ precision }) => precision)),
      recall: mean(picked.map(({ recall }) => recall)),
      f1: mean(picked.map(({ f1 }) => f1)),
    },
    rouge1: rougeOf("one"),
    rouge2: rougeOf("two"),
    rougeL: rougeOf("longest"),
    meanChars: mean(answerable.filter(hasAnswer).map(({ predicted }) => predicted.answer?.length ?? 0)),
    unanswerable: unanswerable.length,
    refused: share(unanswerable, (row) => !hasAnswer(row)),
    aurocAnswerable: auroc(scores(answerable), scores(unanswerable)),
  };
}

/** Returns the sentences of the reference that matches the picked ones best. */
function bestSentences({ refs, predicted }: Row) {
  return refs
    .filter(({ sentences }) => sentences.length > 0)
    .map(({ sentences }) => {
      const hits = predicted.sentences.filter((index) => sentences.includes(index)).length;
      const precision = predicted.sentences.length === 0 ? 0 : hits / predicted.sentences.length;
      const recall = hits / sentences.length;
      return { precision, recall, f1: hits === 0 ? 0 : (2 * precision * recall) / (precision + recall) };
    })
    .reduce((best, next) => (next.f1 > best.f1 ? next : best));
}

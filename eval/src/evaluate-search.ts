// Search and, if the set has answers, answering from the results.

import { answerQuestion } from "@svc/agents";
import { auroc, mean, rankingScores, rejectedAt, share } from "@svc/cli";
import { searchKnowledge } from "@svc/knowledge";
import { ingest, rankDocuments } from "./open-scratch-store.ts";
import type { Scratch } from "./open-scratch-store.ts";
import { forEachShown } from "./read-set.ts";
import type { Evaluation, PassageQuery, SearchQuery, SetOf } from "./read-set.ts";
import { rouge } from "./evaluate-notes.ts";

/** Number of passages requested, so that a hundred documents can be ranked. */
const SEARCH_LIMIT = 100;

/** Number of characters of an answer that are compared, so that a whole page is not an answer. */
const MAX_ANSWER_CHARS = 400;

type Search = Parameters<typeof answerQuestion>[0]["search"];

interface Prediction {
  id: string | number;
  ranked: string[];
  /** Present if the set has answers. */
  answer?: string | null;
  score?: number;
}
type Row = SearchQuery & { predicted: Prediction };

/** Predictions `{id, ranked}`, with `answer` and `score` where the set has answers; and the scores. */
export async function evaluateSearch(
  { documents, queries, wantsAnswers }: SetOf<"search">,
  scratch: Scratch,
): Promise<Evaluation> {
  const { store } = scratch;
  const project = await scratch.addProject("evaluation");
  const { kb, idOf, ingested } = await ingest(documents, scratch, project);
  const agent = await store.agents.insert(project.id, { name: "evaluation", kbIds: [kb.id] });
  const search: Search = (query, kbIds, limit) => searchKnowledge({ store }, project.id, { query, kbIds, limit });

  const startedAt = performance.now();
  const predictions = await forEachShown("asked", queries, async ({ id, text }): Promise<Prediction> => {
    const { hits } = await search(text, [kb.id], SEARCH_LIMIT);
    const ranked = rankDocuments(hits, idOf).slice(0, 100);
    if (!wantsAnswers) return { id, ranked };
    const { text: answer, confidence } = await answerQuestion({ agent, text, search });
    return { id, ranked, answer, score: confidence };
  });
  const queryMs = (performance.now() - startedAt) / queries.length;
  return { predictions, scores: { ...scoresOf(queries, predictions), ingested, queryMs } };
}

function scoresOf(queries: readonly SearchQuery[], predictions: readonly Prediction[]) {
  const rows = queries.flatMap((query, index): Row[] => {
    const predicted = predictions[index];
    return predicted === undefined ? [] : [{ ...query, predicted }];
  });
  const ranking = rankingScores(
    rows
      .filter(({ kind }) => kind === undefined || kind === "in_kb")
      .map(({ qrels, predicted }) => ({ relevant: qrels, ranked: predicted.ranked })),
  );
  const answered = rows.filter(({ kind }) => kind !== undefined);
  if (answered.length === 0) return ranking;
  const ofKind = (wanted: SearchQuery["kind"]) => answered.filter(({ kind }) => kind === wanted);
  const [inside, outside, adversarial] = [ofKind("in_kb"), ofKind("out_of_kb"), ofKind("adversarial")];
  const hasAnswer = ({ predicted }: Row) => predicted.answer !== null;
  const scores = (group: readonly Row[]) => group.map(({ predicted }) => predicted.score ?? NaN);
  return {
    retrieval: ranking,
    inKb: {
      n: inside.length,
      answered: share(inside, hasAnswer),
      answerHit: share(inside, isHit),
      precisionWhenAnswered: share(inside.filter(hasAnswer), isHit),
    },
    meanChars: mean(
      answered.filter(hasAnswer).map(({ predicted }) => Math.min(MAX_ANSWER_CHARS, predicted.answer?.length ?? 0)),
    ),
    outOfKb: { n: outside.length, refused: share(outside, (row) => !hasAnswer(row)) },
    adversarial: { n: adversarial.length, refused: share(adversarial, (row) => !hasAnswer(row)) },
    aurocOutOfKb: auroc(scores(inside), scores(outside)),
    aurocAdversarial: auroc(scores(inside), scores(adversarial)),
    outOfKbRefusedKeeping95: rejectedAt(scores(inside), scores(outside), 0.95),
    outOfKbRefusedKeeping90: rejectedAt(scores(inside), scores(outside), 0.9),
  };
}

/** Returns whether one of the right answers occurs in the beginning of the answer. */
function isHit({ answers = [], predicted }: Row) {
  if (predicted.answer === null || predicted.answer === undefined) return false;
  const given = normalize(predicted.answer.slice(0, MAX_ANSWER_CHARS));
  return answers.some((answer) => given.includes(normalize(answer)));
}

/** Normalizes an answer like SQuAD: without case, punctuation and articles. */
function normalize(text: string) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} ]+/gu, " ")
    .replace(/\b(?:a|an|the)\b/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

// Answers from one passage that may or may not answer: which of its sentences are sent, and how similar the answers are
// to those of people. All passages are in one knowledge base, so that words weigh what they do in the product.

/** Number of passages requested: enough that the one in question is nearly always included. */
const PASSAGE_LIMIT = 100;

interface PassagePrediction {
  id: string | number;
  ranked: string[];
  /** Numbers of the quoted sentences. */
  sentences: number[];
  answer: string | null;
  score: number;
}
type PassageRow = PassageQuery & { predicted: PassagePrediction };

/** Predictions `{id, ranked, sentences, answer, score}` and scores. */
export async function evaluatePassages(
  { passages, queries }: SetOf<"passages">,
  scratch: Scratch,
): Promise<Evaluation> {
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
    async ({ id, text, passage = `p${id}` }): Promise<PassagePrediction> => {
      const found = await searchKnowledge({ store }, project.id, { query: text, kbIds: [kb.id], limit: PASSAGE_LIMIT });
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
  return { predictions, scores: { ...passageScores(queries, predictions), ingested, queryMs } };
}

/** Returns the numbers of the sentences that an answer contains, in any position. */
function sentencesIn(answer: string | null, sentences: readonly string[]): number[] {
  const wordsOf = (text: string): string => text.replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
  const sent = wordsOf(answer ?? "");
  return sentences.flatMap((sentence, index) => (sent.includes(wordsOf(sentence)) ? [index] : []));
}

function passageScores(queries: readonly PassageQuery[], predictions: readonly PassagePrediction[]) {
  const rows = queries.flatMap((query, index): PassageRow[] => {
    const predicted = predictions[index];
    return query.answerable === undefined || predicted === undefined ? [] : [{ ...query, predicted }];
  });
  const answerable = rows.filter((row) => row.answerable);
  const unanswerable = rows.filter((row) => !row.answerable);
  if (answerable.length === 0) return { queries: queries.length };
  const scores = (group: readonly PassageRow[]) => group.map(({ predicted }) => predicted.score);
  const hasAnswer = ({ predicted }: PassageRow) => predicted.answer !== null;
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
function bestSentences({ refs, predicted }: PassageRow) {
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

// Search and, if the set has answers, answering from the results.
import { answerQuestion } from "@svc/agents";
import { searchKnowledge } from "@svc/knowledge";
import { ingest, rankDocuments } from "./open-scratch-store.ts";
import type { Scratch } from "./open-scratch-store.ts";
import { auroc, mean, rankingScores, rejectedAt, share } from "@svc/cli";
import { forEachShown } from "./read-set.ts";
import type { Evaluation, SearchQuery, SetOf } from "./read-set.ts";

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
export async function evaluate(
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

// Search and, where the set has answers, answering from what was found.
import { answerQuestion } from "@svc/agents";
import { searchKnowledge } from "@svc/knowledge";
import { ingest, rankDocuments } from "./ingest.ts";
import { auroc, mean, rankingScores, rejectedAt, share } from "./measures.ts";
import { forEachShown } from "./show-progress.ts";

/** Passages asked for, so that a hundred documents can be ranked. */
const SEARCH_LIMIT = 100;

/** So many characters of an answer are looked at, so that a whole page is no answer. */
const MAX_ANSWER_CHARS = 400;

/** Predictions `{id, ranked}`, with `answer` and `score` where the set has answers; and the scores. */
export async function evaluate({ documents, queries, wantsAnswers }, scratch) {
  const { store } = scratch;
  const project = await scratch.addProject("evaluation");
  const { kb, idOf, ingested } = await ingest(documents, scratch, project);
  const agent = await store.agents.insert(project.id, { name: "evaluation", kbIds: [kb.id] });
  const search = (query, kbIds, limit) => searchKnowledge({ store }, project.id, { query, kbIds, limit });

  const startedAt = performance.now();
  const predictions = await forEachShown("asked", queries, async ({ id, text }) => {
    const { hits } = await search(text, [kb.id], SEARCH_LIMIT);
    const ranked = rankDocuments(hits, idOf).slice(0, 100);
    if (!wantsAnswers) return { id, ranked };
    const { text: answer, confidence } = await answerQuestion({ agent, text, search });
    return { id, ranked, answer, score: confidence };
  });
  const queryMs = (performance.now() - startedAt) / queries.length;
  return { predictions, scores: { ...scoresOf(queries, predictions), ingested, queryMs } };
}

function scoresOf(queries, predictions) {
  const rows = queries.map((query, index) => ({ ...query, predicted: predictions[index] }));
  const ranking = rankingScores(
    rows
      .filter(({ kind }) => kind === undefined || kind === "in_kb")
      .map(({ qrels, predicted }) => ({ relevant: qrels, ranked: predicted.ranked })),
  );
  const answered = rows.filter(({ kind }) => kind !== undefined);
  if (answered.length === 0) return ranking;
  const ofKind = (wanted) => answered.filter(({ kind }) => kind === wanted);
  const [inside, outside, adversarial] = [ofKind("in_kb"), ofKind("out_of_kb"), ofKind("adversarial")];
  const hasAnswer = ({ predicted }) => predicted.answer !== null;
  const scores = (group) => group.map(({ predicted }) => predicted.score);
  return {
    retrieval: ranking,
    inKb: {
      n: inside.length,
      answered: share(inside, hasAnswer),
      answerHit: share(inside, isHit),
      precisionWhenAnswered: share(inside.filter(hasAnswer), isHit),
    },
    meanChars: mean(
      answered.filter(hasAnswer).map(({ predicted }) => Math.min(MAX_ANSWER_CHARS, predicted.answer.length)),
    ),
    outOfKb: { n: outside.length, refused: share(outside, (row) => !hasAnswer(row)) },
    adversarial: { n: adversarial.length, refused: share(adversarial, (row) => !hasAnswer(row)) },
    aurocOutOfKb: auroc(scores(inside), scores(outside)),
    aurocAdversarial: auroc(scores(inside), scores(adversarial)),
    outOfKbRefusedKeeping95: rejectedAt(scores(inside), scores(outside), 0.95),
    outOfKbRefusedKeeping90: rejectedAt(scores(inside), scores(outside), 0.9),
  };
}

/** Whether one of the right answers stands in the beginning of what was answered. */
function isHit({ answers = [], predicted }) {
  if (predicted.answer === null) return false;
  const given = normalize(predicted.answer.slice(0, MAX_ANSWER_CHARS));
  return answers.some((answer) => given.includes(normalize(answer)));
}

/** As SQuAD compares answers: without case, punctuation and articles. */
function normalize(text) {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} ]+/gu, " ")
    .replace(/\b(?:a|an|the)\b/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

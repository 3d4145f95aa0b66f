// Claims of a model: each stands alone in the answer of a scripted model, and what the product does with it is counted.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answerQuestion } from "@svc/agents";
import { repositoryPath } from "@svc/testing";

const HALVES = ["tune", "kept-back"];
const PROJECT = "00000000-0000-7000-8000-000000000001";

/**
 * What a second opinion says of a claim that words alone cannot decide. `none`: no opinion comes. `right`: what the set
 * says. `yes`: yes to everything, the worst there can be.
 */
const SECOND_OPINIONS = {
  none: () => "unsure",
  right: ({ supported }) => (supported ? "yes" : "no"),
  yes: () => "yes",
};

/** Returns the cases and the figures of both halves: true claims that are sent, and false ones. */
export async function evaluateClaims() {
  const predictions = [];
  for (const half of HALVES) {
    for (const item of readHalf(half)) {
      const sent = {};
      for (const [name, opinion] of Object.entries(SECOND_OPINIONS)) {
        const { text, model, why } = await answerQuestion(questionOf(item, opinion(item)));
        sent[name] = text?.includes(item.claim) === true && model?.fallback === null && model.mustReview !== true;
        item.why ??= why;
      }
      predictions.push({ half, ...item, sent });
    }
  }
  return { predictions, scores: Object.fromEntries(HALVES.map((half) => [half, scoresOf(predictions, half)])) };
}

function readHalf(half) {
  const lines = readFileSync(join(repositoryPath("packages/agents/evals"), `claims-${half}.jsonl`), "utf8");
  return lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .flatMap(({ claims, ...place }) =>
      claims.map((claim) => ({ ...place, documentLanguage: place.language, ...claim })),
    );
}

const AGENT = {
  id: "a",
  name: "assistant",
  description: "",
  instructions: "",
  model: null,
  kbIds: ["kb"],
  examples: [],
  reviewPolicy: "auto",
  autoThreshold: 0.5,
  fixedReply: null,
  tools: [],
  enabled: true,
  version: 1,
};

/** An agent whose knowledge base is the one passage, and a model that answers with the one claim. */
function questionOf({ question, quote, claim, language, title, heading, passage }, verdict) {
  const hit = { documentId: "d", chunkId: "c", title, headingPath: [title, heading], text: passage, markdown: true };
  const words = passage.split(/[^\p{L}\p{N}]+/u).map((word) => ({ word: word.toLowerCase(), weight: 1 }));
  const found = { hits: [{ ...hit, score: 10 }], bestPossible: 10, words, passageCount: 1 };
  const answers = {
    answer: { answered: true, needsPerson: false, claims: [{ text: claim, citations: [{ passage: 1, quote }] }] },
    verdicts: { verdicts: [{ claim: 1, difference: "", verdict }] },
    query: { queries: [] },
  };
  return {
    agent: AGENT,
    text: question,
    language,
    search: () => Promise.resolve(found),
    model: {
      model: {
        id: "eval:scripted",
        chat: ({ schema, schemaName }) =>
          Promise.resolve({
            output: schema.parse(answers[schemaName]),
            usage: { model: "eval:scripted", inputTokens: 0, outputTokens: 0, costUsd: null },
          }),
      },
      project: PROJECT,
      ticketId: null,
      signal: new AbortController().signal,
    },
  };
}

function scoresOf(predictions, half) {
  const own = predictions.filter((row) => row.half === half);
  const isTranslated = ({ language, documentLanguage }) => language !== documentLanguage;
  return {
    sameLanguage: sharesOf(own.filter((row) => !isTranslated(row))),
    translated: sharesOf(own.filter(isTranslated)),
    all: sharesOf(own),
    falseSentByKind: Object.fromEntries(
      [...new Set(own.filter(({ supported }) => !supported).map(({ kind }) => kind))]
        .toSorted((a, b) => a.localeCompare(b))
        .map((kind) => {
          const rows = own.filter((row) => row.kind === kind && !row.supported);
          return [kind, `${rows.filter(({ sent }) => sent.none).length} of ${rows.length}`];
        }),
    ),
  };
}

/** Shares that are sent, by second opinion. */
function sharesOf(rows) {
  const share = (some, name) => some.filter(({ sent }) => sent[name]).length / some.length;
  const [right, wrong] = [rows.filter(({ supported }) => supported), rows.filter(({ supported }) => !supported)];
  const by = (some) => Object.fromEntries(Object.keys(SECOND_OPINIONS).map((name) => [name, share(some, name)]));
  return { trueClaims: right.length, trueSent: by(right), falseClaims: wrong.length, falseSent: by(wrong) };
}

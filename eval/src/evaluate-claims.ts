// Claims of a model: each is the whole answer of a scripted model, and the product's decisions about it are counted.
import { answerQuestion } from "@svc/agents";
import { asProjectId } from "@svc/store";
import { repositoryPath } from "@svc/testing";
import { readJsonLines } from "./read-set.ts";
import type { Evaluation } from "./read-set.ts";

type Opinion = "none" | "right" | "yes";
type Verdict = "unsure" | "yes" | "no";

/** A claim with the passage that it quotes. */
interface Claim {
  claim: string;
  quote: string;
  supported: boolean;
  kind: string;
  question: string;
  language: string;
  documentLanguage: string;
  title: string;
  heading: string;
  passage: string;
}
interface Prediction extends Claim {
  half: string;
  /** Whether the claim is sent, by second opinion. */
  sent: Record<Opinion, boolean>;
  why: string;
}

const HALVES = ["tune", "kept-back"];
const PROJECT = "00000000-0000-7000-8000-000000000001";

/**
 * Second opinions about a claim that words alone cannot decide. `none`: there is none. `right`: that of the set. `yes`:
 * always yes, the worst case.
 */
const SECOND_OPINIONS: Record<Opinion, (item: Claim) => Verdict> = {
  none: () => "unsure",
  right: ({ supported }) => (supported ? "yes" : "no"),
  yes: () => "yes",
};

const OPINIONS = Object.keys(SECOND_OPINIONS) as Opinion[];

/** Returns the cases and the figures of both halves: true claims that are sent, and false ones. */
export async function evaluateClaims(): Promise<Evaluation> {
  const predictions: Prediction[] = [];
  for (const half of HALVES) {
    for (const item of readHalf(half)) {
      const sent = { none: false, right: false, yes: false };
      const reasons: string[] = [];
      for (const name of OPINIONS) {
        const { text, model, why } = await answerQuestion(questionOf(item, SECOND_OPINIONS[name](item)));
        sent[name] = text?.includes(item.claim) === true && model?.fallback === null && model.mustReview !== true;
        reasons.push(why);
      }
      predictions.push({ half, ...item, why: reasons[0] ?? "", sent });
    }
  }
  return { predictions, scores: Object.fromEntries(HALVES.map((half) => [half, scoresOf(predictions, half)])) };
}

function readHalf(half: string): Claim[] {
  type Position = Omit<Claim, "claim" | "quote" | "supported" | "kind" | "documentLanguage">;
  type Line = Position & { claims: Omit<Claim, "documentLanguage">[] };
  const lines = readJsonLines<Line>(repositoryPath(`packages/agents/evals/claims-${half}.jsonl`));
  return lines.flatMap(({ claims, ...position }) =>
    claims.map((claim) => ({ ...position, documentLanguage: position.language, ...claim })),
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
  reviewPolicy: "auto" as const,
  autoThreshold: 0.5,
  fixedReply: null,
  assignment: "none" as const,
  tools: [],
  enabled: true,
  version: 1,
};

/** Returns an agent whose knowledge base is the one passage, and a model whose answer is the one claim. */
function questionOf(item: Claim, verdict: Verdict): Parameters<typeof answerQuestion>[0] {
  const { question, quote, claim, language, title, heading, passage } = item;
  const hit = { documentId: "d", chunkId: "c", title, headingPath: [title, heading], text: passage, markdown: true };
  const words = passage.split(/[^\p{L}\p{N}]+/u).map((word) => ({ word: word.toLowerCase(), weight: 1 }));
  const found = { hits: [{ ...hit, score: 10 }], bestPossible: 10, words, passageCount: 1 };
  const answers: Record<string, unknown> = {
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
      project: asProjectId(PROJECT),
      ticketId: null,
      signal: new AbortController().signal,
    },
  };
}

function scoresOf(predictions: readonly Prediction[], half: string) {
  const own = predictions.filter((row) => row.half === half);
  const isTranslated = ({ language, documentLanguage }: Claim) => language !== documentLanguage;
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
function sharesOf(rows: readonly Prediction[]) {
  const share = (some: readonly Prediction[], name: Opinion) =>
    some.filter(({ sent }) => sent[name]).length / some.length;
  const [right, wrong] = [rows.filter(({ supported }) => supported), rows.filter(({ supported }) => !supported)];
  const by = (some: readonly Prediction[]) => Object.fromEntries(OPINIONS.map((name) => [name, share(some, name)]));
  return { trueClaims: right.length, trueSent: by(right), falseClaims: wrong.length, falseSent: by(wrong) };
}

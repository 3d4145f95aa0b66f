import { detectLanguage, stopWords, tokenize } from "@svc/text";
import type { Source } from "@svc/contracts";
import { sourceOf } from "../source-url.ts";
import { holdsPart } from "../holds-word.ts";
import { compareClaim, quotedSentences } from "./compare-claim.ts";
import { findForeignParts } from "./find-foreign-parts.ts";
import { findQuote } from "./find-quote.ts";
import { givesOrders, sayingsOf } from "./gives-orders.ts";
import { isCourtesy } from "./is-courtesy.ts";
import type { Claim } from "./answer-prompt.ts";
import type { CitableText, Evidence } from "./evidence.ts";

/**
 * So much of what a sentence says has to stand in what it cites: it may be said in other words, not be about something
 * else.
 */
const MIN_SHARE = 1 / 3;
/** A shorter sentence may well say it in other words alone. */
const MIN_WORDS = 3;
/** The language of a text shows in its beginning. */
const MAX_DETECTED_CHARS = 1_000;

/** What a claim turned out to be. */
export interface JudgedClaim {
  text: string;
  /**
   * A courtesy states nothing and needs no support. `unsure`: nothing contradicts it, and words alone cannot show it;
   * it counts as supported only after a second opinion.
   */
  kind: "supported" | "courtesy" | "unsure" | "unsupported";
  /** Why it is not supported, for an operator; empty where it is. */
  why: string;
  /** True when it looks like text that somebody has planted, so that the whole answer is in doubt. */
  isSuspect: boolean;
  /** What it cites, each quote as it stands in its document. */
  sources: Source[];
  /** Titles of what it cites. */
  titles: string[];
  /** The sentences that its quotes stand in, each under its title, for a second opinion. */
  evidence: string;
  /** True when only results of tools support it. */
  isByResults: boolean;
  /** False if it could not be decided whether what it cites is about the same. */
  isCompared: boolean;
}

/** What claims are judged by. */
export interface ClaimContext {
  evidence: Evidence;
  question: string;
  /** That of the question, as ISO 639-1. */
  language: string;
  instructions: string;
  /** Whether a text reveals the model's instructions; `sayable` may be said in spite of that. */
  repeatsRules: (text: string, sayable: string) => boolean;
}

/** Longer quotes in a citation are not looked for. */
const MAX_QUOTE_CHARS = 4_000;
const MAX_CITATIONS = 20;

/**
 * Judges a claim by itself: supported when each of its citations that counts stands in what it names, and when the
 * claim holds nothing that must be taken from there and is not. The same arguments give the same result, so that what
 * was passed on while the answer came stays true.
 */
export function judgeClaim(claim: Claim, context: ClaimContext): JudgedClaim {
  const { evidence, question, language, instructions, repeatsRules } = context;
  const text = claim.text.trim();
  const cited = claim.citations.slice(0, MAX_CITATIONS).flatMap(({ passage, quote }) => {
    const found = evidence.find(passage);
    const stands = found === null || quote.length > MAX_QUOTE_CHARS ? null : findQuote(quote, found.text);
    return found === null || stands === null ? [] : [{ found, quote: stands }];
  });
  const texts = cited.map(({ found }) => `${found.title}\n${addressOf(found)}\n${found.text}`);
  const sayable = texts.join("\n");
  const foreign = findForeignParts(text, { texts: [...texts, instructions], question });
  const judged = {
    text,
    // The result of a tool is no document.
    sources: cited.flatMap(({ found, quote }) => (found.passage === null ? [] : [sourceOf(found.passage, quote)])),
    titles: cited.map(({ found }) => found.title),
    evidence: cited.map(({ found, quote }) => `${found.title}\n${quotedSentences({ ...found, quote })}`).join("\n\n"),
    isByResults: cited.length > 0 && cited.every(({ found }) => found.passage === null),
    isCompared: true,
  };
  const unsupported = (why: string, isSuspect = false): JudgedClaim => ({
    ...judged,
    kind: "unsupported",
    why,
    isSuspect,
  });

  if (repeatsRules(text, sayable)) return unsupported("it repeats the instructions of the model", true);
  if (givesOrders(text)) return unsupported("it contains instructions to a model", true);
  const planted = foreign.find(({ kind }) => kind !== "number");
  if (planted !== undefined) return unsupported(`the ${planted.kind} ${planted.text} is not in its citations`, true);
  if (isSaying(text, instructions) || (foreign.length === 0 && isCourtesy(text))) {
    return { ...judged, kind: "courtesy", why: "", isSuspect: false };
  }
  if (claim.citations.length === 0) return unsupported("it has no citation");
  if (cited.length === 0) return unsupported("its quotes are not in the cited passages");
  // The result of a tool is data without sentences.
  const quoted = cited.flatMap(({ found, quote }) => (found.passage === null ? [] : [{ ...found, quote }]));
  if (quoted.length > 0) {
    const { verdict, why } = compareClaim(text, quoted, { known: `${question}\n${instructions}`, language });
    if (verdict === "different") return unsupported(why);
    return { ...judged, kind: verdict === "same" ? "supported" : "unsure", why, isSuspect: false };
  }
  const number = foreign[0];
  if (number !== undefined) return unsupported(`the number ${number.text} is not in its citations`);
  const isSame = isAbout(text, sayable, language);
  if (isSame === false) return unsupported("the cited passage is about something else");
  const isCompared = isSame !== null || isLiteral(text, sayable);
  return { ...judged, kind: "supported", why: "", isSuspect: false, isCompared };
}

/** What the document itself says counts as compared, however short it is. */
function isLiteral(text: string, sayable: string): boolean {
  return findQuote(text, sayable) !== null;
}

function addressOf({ passage }: CitableText): string {
  return passage?.url ?? "";
}

/** A sentence that the agent's instructions want to have said, word for word. */
function isSaying(text: string, instructions: string): boolean {
  return sayingsOf(instructions).some((saying) => saying.trim() === text);
}

/**
 * Whether a claim is about what the cited texts are about, by the words that they share; null where that cannot be
 * decided, because they are in different languages or the claim is too short. `language` is that of the question.
 */
export function isAbout(claim: string, cited: string, language: string): boolean | null {
  const own = detectLanguage(claim, language).language;
  const theirs = detectLanguage(cited.slice(0, MAX_DETECTED_CHARS), own).language;
  if (own !== theirs) return null;
  const empty = stopWords(own);
  const words = [...new Set(tokenize(claim).map(({ term }) => term))].filter(
    (term) => !empty.has(term) && /\p{L}/u.test(term),
  );
  if (words.length < MIN_WORDS) return null;
  const holds = holdsPart(cited);
  return words.filter(holds).length >= MIN_SHARE * words.length;
}

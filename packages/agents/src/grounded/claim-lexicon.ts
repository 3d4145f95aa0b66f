import { z } from "zod";
import { stopWords, foldAccents } from "@svc/text";
import { createLanguageFiles, phrases } from "../language-files.ts";
import { fold } from "./read-amounts.ts";
import type { Token } from "./read-amounts.ts";

/** A file of `data/turns`: words that negate or restrict a statement; "*" at the end matches any ending. */
const turnsSchema = z.strictObject({ denial: phrases, restriction: phrases });

const turnsOf = createLanguageFiles("turns", turnsSchema);

/** Characters that negate or restrict a text in scripts without spaces. */
const UNSPACED = {
  denial: /[不没沒無无非勿未別别]|ない|なく|ません|ずに|できかね/u,
  restriction: /[只仅僅]|のみ|だけ|以外|除外|除く/u,
} as const;

/** What reverses or narrows a statement. */
type Turn = "denial" | "restriction";

/** Properties of a statement other than its words and numbers. */
export type Mark =
  | "free"
  | "pay"
  | "only"
  | "except"
  | "even"
  | "all"
  | "less"
  | "more"
  | "we"
  | "you"
  | "ask"
  | "secret";

/** Function of a phrase in a statement. */
export type Kind = Mark | "not" | "if" | "unless" | "light" | "turn";

/** The words of a language that decide the meaning of a statement. */
export interface Lexicon {
  phrases: ReadonlyMap<string, Kind>;
  flips: ReadonlyMap<string, string>;
  same: ReadonlyMap<string, string>;
  /** Stop words without distinguishing meaning. */
  empty: ReadonlySet<string>;
  lets: ReadonlySet<string>;
  /** Words that begin another statement within a sentence. */
  turns: readonly string[];
}

const MAX_PHRASE_WORDS = 4;
/** Kinds in ascending precedence: a phrase in two lists has the kind that comes later here. */
const KINDS = "light all free only except if unless even less more we you pay ask secret not".split(" ") as Exclude<
  Kind,
  "turn"
>[];

/**
 * A file of `data/claims`: phrases that decide the meaning of a statement, in lower case except German "Sie" and
 * "Ihnen".
 */
const claimsSchema = z.strictObject({
  /** Denies. */
  not: phrases,
  /** Means the opposite of the word after the colon: "closed:open". */
  flips: phrases,
  /** Costs nothing. */
  free: phrases,
  /** Restricts. */
  only: phrases,
  except: phrases,
  /** Begins a condition. */
  if: phrases,
  unless: phrases,
  /** Removes a condition. */
  even: phrases,
  /** Without exception. */
  all: phrases,
  /** Upper limit of a number or a time. */
  less: phrases,
  /** Lower limit of a number or a time. */
  more: phrases,
  /** Names the actor. */
  we: phrases,
  you: phrases,
  /** Bears costs. */
  pay: phrases,
  /** What a text asks its reader to do. */
  ask: phrases,
  /** Secrets that no reply may ask for. */
  secret: phrases,
  /** Stop words that distinguish things. */
  telling: phrases,
  /** Addresses the reader rather than describing somebody. */
  lets: phrases,
  /** Carries no meaning by itself. */
  light: phrases,
  /** Groups of words with one meaning. */
  same: z.array(z.string()),
  /** Begins another statement within a sentence. */
  turns: phrases,
});
type ClaimWords = z.infer<typeof claimsSchema>;

const wordsOf = createLanguageFiles("claims", claimsSchema);
const lexicons = new Map<string, Lexicon>();

function lexiconOf(language: string, words: ClaimWords): Lexicon {
  const kinds = new Map<string, Kind>();
  for (const kind of KINDS) for (const phrase of words[kind]) kinds.set(foldOwn(phrase), kind);
  for (const phrase of words.turns) kinds.set(foldOwn(phrase), "turn");
  const telling = new Set(words.telling.map(fold));
  const groups = words.same.map((group) => group.split(" ").map((word) => foldOwn(word.replace("-", " "))));
  return {
    phrases: kinds,
    flips: new Map(words.flips.map((pair) => pair.split(":").map(fold) as [string, string])),
    same: new Map(groups.flatMap((group) => group.map((word) => [word, group[0] ?? word] as const))),
    empty: new Set([...stopWords(language)].map(fold).filter((word) => !telling.has(word))),
    lets: new Set(words.lets.map(fold)),
    turns: words.turns,
  };
}

/**
 * Folds a phrase. German "Sie" is "you" while "sie" is not, so capitalized words in the list are matched with their
 * case.
 */
function foldOwn(phrase: string): string {
  return /^(?:Sie|Ihnen)$/.test(phrase) ? phrase : fold(phrase);
}

/** Returns the lexicon of a language; undefined if the language is not fully supported. */
export function lexiconFor(language: string): Lexicon | undefined {
  const known = lexicons.get(language);
  const words = known === undefined ? wordsOf(language) : null;
  if (words === null) return known;
  const lexicon = lexiconOf(language, words);
  lexicons.set(language, lexicon);
  return lexicon;
}

/** Returns the kind of the longest phrase at a position and its length in tokens; null if no phrase begins there. */
export function phraseAt(
  tokens: readonly Token[],
  at: number,
  { phrases }: Lexicon,
): { kind: Kind; length: number } | null {
  for (let length = Math.min(MAX_PHRASE_WORDS, tokens.length - at); length > 0; length -= 1) {
    const texts = tokens.slice(at, at + length).map(({ text }) => text);
    const kind = phrases.get(texts.join(" ")) ?? phrases.get(texts.map(fold).join(" "));
    if (kind !== undefined) return { kind, length };
  }
  return null;
}

/** Returns whether a text negates or restricts its statement; null if its language is not supported. */
export function hasTurn(text: string, turn: Turn, language: string): boolean | null {
  if (language === "zh" || language === "ja") return UNSPACED[turn].test(text);
  // Norwegian has two codes: "nb" is Bokmål.
  const known = turnsOf(language === "nb" ? "no" : language)?.[turn].map(foldAccents);
  if (known === undefined) return null;
  const words = foldAccents(text.toLowerCase().replace(/[’ʼ]/g, "'")).match(/[\p{L}\p{M}']+/gu) ?? [];
  return words.some((word) => {
    // "can't", "n'est", "l'aucun": the parts before and after the apostrophe are words as well.
    if (turn === "denial" && language === "en" && word.endsWith("n't")) return true;
    return word.split("'").some((part) => known.some((one) => isWord(part, one)));
  });
}

function isWord(word: string, listed: string): boolean {
  return listed.endsWith("*") ? word.startsWith(listed.slice(0, -1)) : word === listed;
}

import { stopWords } from "@svc/text";
import { CLAIM_WORDS, TURNS } from "./claim-words.ts";
import type { ClaimWords } from "./claim-words.ts";
import { fold } from "./read-amounts.ts";
import type { Token } from "./read-amounts.ts";

/** What a statement has besides words and numbers. */
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

/** What a phrase does in a statement. */
export type Kind = Mark | "not" | "if" | "unless" | "light" | "turn";

/** The words of a language that decide what a statement says. */
export interface Lexicon {
  phrases: ReadonlyMap<string, Kind>;
  flips: ReadonlyMap<string, string>;
  same: ReadonlyMap<string, string>;
  /** Stop words that tell nothing apart. */
  empty: ReadonlySet<string>;
  lets: ReadonlySet<string>;
}

const MAX_PHRASE_WORDS = 4;
/** A phrase that stands in two lists counts as what stands later here. */
const KINDS = "light all free only except if unless even less more we you pay ask secret not".split(" ") as Exclude<
  Kind,
  "turn"
>[];

const LEXICONS = new Map(
  Object.entries(CLAIM_WORDS).map(([language, words]) => [language, lexiconOf(language, words)]),
);
function lexiconOf(language: string, words: ClaimWords): Lexicon {
  const phrases = new Map<string, Kind>();
  for (const kind of KINDS) for (const phrase of words[kind].split(",")) phrases.set(foldOwn(phrase), kind);
  for (const phrase of (TURNS[language] ?? "").split(",")) phrases.set(foldOwn(phrase), "turn");
  const telling = new Set(words.telling.split(",").map(fold));
  const groups = words.same.split("|").map((group) => group.split(" ").map((word) => foldOwn(word.replace("-", " "))));
  return {
    phrases,
    flips: new Map(words.flips.split(",").map((pair) => pair.split(":").map(fold) as [string, string])),
    same: new Map(groups.flatMap((group) => group.map((word) => [word, group[0] ?? word] as const))),
    empty: new Set([...stopWords(language)].map(fold).filter((word) => !telling.has(word))),
    lets: new Set(words.lets.split(",").map(fold)),
  };
}

/** German "Sie" is "you", "sie" is not: words with a capital letter in the list are looked for as they stand. */
function foldOwn(phrase: string): string {
  return /^(?:Sie|Ihnen)$/.test(phrase) ? phrase : fold(phrase);
}

/** Returns the lexicon of a language; undefined where its words are not known in full. */
export function lexiconFor(language: string): Lexicon | undefined {
  return LEXICONS.get(language);
}

/** Returns what the longest phrase at a place does, and its length in tokens; null where none begins there. */
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

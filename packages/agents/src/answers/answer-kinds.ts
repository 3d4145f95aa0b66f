import { z } from "zod";
import { createLanguageFiles } from "../language-files.ts";
import { foldWords, matchWording, phrasesOf } from "../match-wording.ts";
import type { WordingMatcher } from "../match-wording.ts";
import { JOINED_LANGUAGES } from "../talk/read-talk.ts";

/** The kinds in the order in which they are looked for: the first that a question asks for counts. "steps" is what to do. */
const KINDS = ["money", "duration", "time", "number", "person", "place", "steps"] as const;

/** What kind of answer a question asks for. */
export type AnswerKind = (typeof KINDS)[number];

/** A question's kind shows in its beginning. */
const MAX_CHARS = 500;

/** What shows in any language that a text holds something of a kind. */
const SIGNS: Readonly<Partial<Record<AnswerKind, RegExp>>> = {
  money: /[€$£¥₽₺₹]|\p{N}/u,
  time: /\p{N}/u,
  number: /\p{N}/u,
  person: /\p{Lu}\p{Ll}+/u,
  place: /\p{Lu}\p{Ll}+/u,
  steps: /\S/u,
};

const phrasesByKind = z.partialRecord(z.enum(KINDS), z.array(z.string()));

/** A file of `data/answer-kinds`: phrases that ask for a kind of answer, and words that a text with such an answer has. */
const fileSchema = z.strictObject({ asks: phrasesByKind, holds: phrasesByKind });

interface LanguageKinds {
  asks: readonly (readonly [kind: AnswerKind, matches: WordingMatcher])[];
  isUnspaced: boolean;
  holds: ReadonlyMap<AnswerKind, readonly string[]>;
}

const compiled = new Map<string, LanguageKinds | null>();

/** Returns the kind of answer that a question asks for in one of the languages (ISO 639-1); null for none. */
export function kindOf(asked: string, languages: readonly string[]): AnswerKind | null {
  const words = foldWords(asked.slice(0, MAX_CHARS));
  const found = languages.flatMap((language) => {
    const kind = kindsOf(language)?.asks.find(([, matches]) => matches(words) !== null)?.[0];
    return kind === undefined ? [] : [kind];
  });
  return KINDS.find((kind) => found.includes(kind)) ?? null;
}

/** Returns whether a text, whose folded words are `terms`, holds something of the kind in one of the languages. */
export function holdsKind(
  kind: AnswerKind,
  { text, terms, languages }: { text: string; terms: readonly string[]; languages: readonly string[] },
): boolean {
  if (SIGNS[kind]?.test(text) === true) return true;
  return languages.some((language) => {
    const kinds = kindsOf(language);
    const words = kinds?.holds.get(kind) ?? [];
    if (kinds?.isUnspaced !== true) return words.some((word) => terms.includes(word));
    const joined = terms.join("");
    return words.some((word) => joined.includes(word));
  });
}

const fileOf = createLanguageFiles("answer-kinds", fileSchema);

function kindsOf(language: string): LanguageKinds | null {
  const known = compiled.get(language);
  if (known !== undefined) return known;
  const file = fileOf(language);
  const kinds = file === null ? null : compile(file, language);
  compiled.set(language, kinds);
  return kinds;
}

function compile({ asks, holds }: z.infer<typeof fileSchema>, language: string): LanguageKinds {
  const isUnspaced = JOINED_LANGUAGES.has(language);
  return {
    isUnspaced,
    asks: KINDS.map((kind) => [kind, matchWording([asks[kind] ?? []], { gap: 0, isUnspaced })] as const),
    holds: new Map(KINDS.map((kind) => [kind, phrasesOf(holds[kind] ?? [])])),
  };
}

import { z } from "zod";
import { createLanguageFiles, phrases, words } from "../language-files.ts";

/** Kind of a word, for how corrections are made: a correction is mostly of the same kind as what it replaces. */
export const WORD_KINDS = [
  "ask",
  "verb",
  "article",
  "place",
  "and",
  "person",
  "not",
  "number",
  "name",
  "word",
] as const;
export type WordKind = (typeof WORD_KINDS)[number];

/** A file of `data/repairs`: what people say who think aloud, or who correct what they have just said. */
const repairsSchema = z.strictObject({
  /** Sounds, which mean nothing. */
  pauses: phrases.optional(),
  /** Phrases that withdraw something. */
  edits: phrases.optional(),
  /** Words before such a phrase. */
  links: phrases.optional(),
  /** Phrases after it that are no part of the correction. */
  tails: phrases.optional(),
  /** Phrases that mean nothing where the writing sets them off on both sides. */
  fillers: phrases.optional(),
  /** The one of `edits` that also says "not". */
  not: z.string().optional(),
  /**
   * The commonest words of each kind. The weights of corrections were fitted with those of English; in other languages,
   * words that would be read as the beginning of a question have none.
   */
  kinds: z.partialRecord(z.enum(WORD_KINDS), words),
});

const repairsOf = createLanguageFiles("repairs", repairsSchema);
const kindsByLanguage = new Map<string, ReadonlyMap<string, WordKind>>();

/** Returns the words of corrections in a language (ISO 639-1); none for one that is not known. */
export function repairWords(language: string): z.infer<typeof repairsSchema> {
  return repairsOf(language) ?? { kinds: {} };
}

/** Returns the kinds of the words of a language, by their form in lower case; none for one that is not known. */
export function wordKinds(language: string): ReadonlyMap<string, WordKind> {
  const known = kindsByLanguage.get(language);
  if (known !== undefined) return known;
  const { kinds } = repairWords(language);
  const found = new Map(
    WORD_KINDS.flatMap((kind) => (kinds[kind] ?? []).map((word): [string, WordKind] => [word, kind])),
  );
  kindsByLanguage.set(language, found);
  return found;
}

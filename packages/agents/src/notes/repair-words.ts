import { z } from "zod";
import { createLanguageFiles, phrases, words } from "../language-files.ts";

/** Negation words by language (ISO 639-1). */
const NEGATIONS: Readonly<Record<string, string>> = {
  en: "no not never nor none nobody nothing nowhere neither without cannot cant dont wont doesnt didnt isnt arent wasnt hardly barely",
  de: "nicht kein keine keinen keinem keiner keines nie niemals niemand niemanden nichts ohne weder kaum nein",
  fr: "ne pas jamais rien personne aucun aucune sans ni plus non",
  es: "no ni nunca jamás nada nadie ningún ninguna ninguno sin tampoco",
  it: "non né mai niente nulla nessun nessuno nessuna senza no",
  pt: "não nem nunca jamais nada ninguém nenhum nenhuma sem",
  nl: "niet geen nooit niemand niets noch zonder nee",
  pl: "nie ani nigdy nic nikt żaden żadna żadne bez",
  ru: "не нет ни никогда ничего никто никого без нельзя",
  uk: "не ні ані немає нема ніколи нічого ніхто нікого без",
  tr: "değil yok ne hiç hayır",
  ar: "لا لم لن ليس ليست بدون ما",
};

const BY_LANGUAGE: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(NEGATIONS).map(([language, words]) => [language, new Set(words.split(" "))]),
);

const NONE: ReadonlySet<string> = new Set();

/** Negation words of all these languages. */
export const ANY_NEGATION: ReadonlySet<string> = new Set(Object.values(NEGATIONS).flatMap((words) => words.split(" ")));

/** Kind of a word: a correction usually has the kind of what it replaces. */
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

/** A file of `data/repairs`: hesitations and self-corrections. */
const repairsSchema = z.strictObject({
  /** Filler sounds without meaning. */
  pauses: phrases.optional(),
  /** Phrases that withdraw something. */
  edits: phrases.optional(),
  /** Words before such a phrase. */
  links: phrases.optional(),
  /** Phrases after it that are not part of the correction. */
  tails: phrases.optional(),
  /** Phrases without meaning if set off by punctuation on both sides. */
  fillers: phrases.optional(),
  /** The one of `edits` that also means "not". */
  not: z.string().optional(),
  /**
   * The most common words of each kind. The weights of corrections were fitted with the English ones; in other
   * languages, words that would look like the beginning of a question have no kind.
   */
  kinds: z.partialRecord(z.enum(WORD_KINDS), words),
});

const repairsOf = createLanguageFiles("repairs", repairsSchema);
const kindsByLanguage = new Map<string, ReadonlyMap<string, WordKind>>();

/** Returns the correction words of a language (ISO 639-1); none if it is not supported. */
export function repairWords(language: string): z.infer<typeof repairsSchema> {
  return repairsOf(language) ?? { kinds: {} };
}

/** Returns the kinds of a language's words, in lower case; none if it is not supported. */
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

/** Returns a function that tests whether a word negates a statement in a language (ISO 639-1). */
export function negationTest(language: string): (word: { word: string } | undefined) => boolean {
  const words = BY_LANGUAGE.get(language) ?? NONE;
  return (word) => word !== undefined && (words.has(word.word) || (language === "en" && word.word.endsWith("n't")));
}

import { z } from "zod";
import { createLanguageFiles, phrases, words } from "../language-files.ts";

/** The words that turn round what is said, by language (ISO 639-1). */
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

/** A small word of any of these languages that turns round what is said. */
export const ANY_NEGATION: ReadonlySet<string> = new Set(Object.values(NEGATIONS).flatMap((words) => words.split(" ")));

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

/** Returns a function that says whether a word negates a statement in a language (ISO 639-1). */
export function negationTest(language: string): (word: { word: string } | undefined) => boolean {
  const words = BY_LANGUAGE.get(language) ?? NONE;
  return (word) => word !== undefined && (words.has(word.word) || (language === "en" && word.word.endsWith("n't")));
}

import type { NoteWord } from "./note-words.ts";

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

/** Returns a function that says whether a word negates a statement in a language (ISO 639-1). */
export function negationTest(language: string): (word: NoteWord | undefined) => boolean {
  const words = BY_LANGUAGE.get(language) ?? NONE;
  return (word) => word !== undefined && (words.has(word.word) || (language === "en" && word.word.endsWith("n't")));
}

import { z } from "zod";
import { createLanguageFiles, phrases, lazily } from "../language-files.ts";

/** Kinds of small talk. */
export const TALK_KINDS = [
  "greeting",
  "thanks",
  "goodbye",
  "help",
  "agreement",
  "praise",
  "solved",
  "complaint",
  "bot",
  "abilities",
  "statement",
] as const;
export type TalkKind = (typeof TALK_KINDS)[number];

/** Lists of phrases in sequence, with a few words between them; accents, case and punctuation are ignored. */
const wording = z.array(phrases);

/** Phrases of one language; `mul.json` has those used in all languages. `compilePhrases` defines their syntax. */
const talkSchema = z.strictObject({
  /** True for scripts without spaces between words. */
  isUnspaced: z.boolean().default(false),
  /** Phrases referenced as `<name>`. */
  words: z.record(z.string(), phrases).default({}),
  phrases: z
    .partialRecord(z.enum([...TALK_KINDS, "person", "filler", "turn", "problem", "negation"]), phrases)
    .default({}),
  /** Replies. A language without its own text uses a similar one, or English. */
  replies: z
    .partialRecord(
      z.enum(["greeting", "thanks", "goodbye", "help", "agreement", "bot", "abilities", "added", "handoff"]),
      z.string(),
    )
    .default({}),
  /** Phrases about people who help. */
  person: z
    .strictObject({
      /** A reply with one of these promises that a person will look, call or write. */
      promises: z.array(wording),
      /** Turns a promise into a condition: "if you send us …, a colleague will call". */
      conditions: phrases,
      /** Asks for a person if directly before one; the second list follows the first of `asks`. */
      wants: phrases,
      /** Asks for a person; two lists match in any order. */
      asks: z.array(wording),
      /** Asks for a person if the message has nothing else but courtesies. */
      persons: phrases,
    })
    .optional(),
  /** Phrases of a follow-up. */
  followUp: z
    .strictObject({
      /** Begins a follow-up. */
      beginnings: phrases,
      phrases,
      /** Words that refer to something mentioned before. */
      pronouns: phrases,
      /** Words that do so only if no noun follows: otherwise they are articles. */
      articles: phrases,
      /** Words that ask for more, and those that ask why. */
      more: phrases,
      /** Verbs without meaning next to such a word: "give an example". */
      requests: phrases.default([]),
    })
    .optional(),
  /** Courtesies around a question in a letter. */
  courtesies: z
    .strictObject({
      /** Salutations before a name; greetings count too. */
      salutations: phrases,
      /** Words of a salutation other than names. */
      addressed: phrases,
      /** Closings; the text after one is a signature. */
      closings: phrases,
      /** Introductions of a question without content. */
      leadIns: phrases,
      /** Polite words anywhere in a question. */
      please: phrases,
      /** Polite words around a requested person: "agent please". */
      kind: phrases,
      /** Words about time in the same position. */
      soon: phrases,
      /** Precedes a request for a person by a customer who would rather not: "do I have to". */
      reluctant: phrases,
    })
    .optional(),
  /** Phrases in which a pronoun refers to nothing. */
  emptyPronouns: phrases.optional(),
  /** Negates a promise. */
  negations: phrases.optional(),
});
export type Talk = z.infer<typeof talkSchema>;

/** Phrases used in chats of any language, which do not identify the language. */
export const SHARED = "mul";

export const DEFAULT_LANGUAGE = "en";

/** ISO 639-1 codes; the first language wins if two share a phrase. */
const LANGUAGES =
  "mul en it de fr es pt nl sv da no fi ru sr ro ca eu ga hu lt id tr el hy ar hi ne ta yi cs pl uk ja zh ko vi th he fa";

/** Languages without spaces between words, or with suffixes joined to them. */
export const JOINED_LANGUAGES: ReadonlySet<string> = new Set(["ja", "ko", "th", "zh"]);

/** Scripts of languages that do not use Latin letters. */
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  ar: /\p{Script=Arabic}/u,
  el: /\p{Script=Greek}/u,
  fa: /\p{Script=Arabic}/u,
  he: /\p{Script=Hebrew}/u,
  hi: /[\p{Script=Devanagari}\p{Script=Latin}]/u,
  hy: /\p{Script=Armenian}/u,
  ja: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u,
  ko: /\p{Script=Hangul}/u,
  ne: /\p{Script=Devanagari}/u,
  ru: /\p{Script=Cyrillic}/u,
  sr: /[\p{Script=Cyrillic}\p{Script=Latin}]/u,
  ta: /\p{Script=Tamil}/u,
  th: /\p{Script=Thai}/u,
  uk: /\p{Script=Cyrillic}/u,
  yi: /\p{Script=Hebrew}/u,
  zh: /\p{Script=Han}/u,
};
const LATIN = /\p{Script=Latin}/u;

const talkOf = createLanguageFiles("talk", talkSchema);

/** Phrases by language. */
export const talkByLanguage = lazily(
  (): ReadonlyMap<string, Talk> =>
    new Map(
      LANGUAGES.split(" ").flatMap((language): [string, Talk][] => {
        const talk = talkOf(language);
        return talk === null ? [] : [[language, talk]];
      }),
    ),
);

/** Languages other than the shared one, by the script that a text in them has letters of. */
export const languagesByScript = lazily((): ReadonlyMap<RegExp, readonly string[]> => {
  const own = [...talkByLanguage().keys()].filter((language) => language !== SHARED);
  const scriptOf = (language: string) => SCRIPTS[language] ?? LATIN;
  return new Map(
    own.map((language) => [scriptOf(language), own.filter((other) => scriptOf(other) === scriptOf(language))]),
  );
});

/** Returns the phrases used in any language. */
export function sharedTalk(): Talk {
  const shared = talkByLanguage().get(SHARED);
  if (shared === undefined) throw new Error(`data/talk/${SHARED}.json is missing`);
  return shared;
}

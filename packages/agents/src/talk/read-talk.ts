import { z } from "zod";
import { createLanguageFiles, phrases, lazily } from "../language-files.ts";

/** What a message can say when it asks the documents nothing. */
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

/** Lists of phrases, one after the other with a few words between them; accents, case and punctuation do not count. */
const wording = z.array(phrases);

/**
 * How people talk in one language; `mul.json` holds what is written in all of them. Phrases are as `compilePhrases`
 * reads them.
 */
const talkSchema = z.strictObject({
  /** True of scripts without spaces between words. */
  isUnspaced: z.boolean().default(false),
  /** Phrases that others name as `<name>`. */
  words: z.record(z.string(), phrases).default({}),
  phrases: z
    .partialRecord(z.enum([...TALK_KINDS, "person", "filler", "turn", "problem", "negation"]), phrases)
    .default({}),
  /** What is replied; languages without a text of their own take one that fits as well, or the English one. */
  replies: z
    .partialRecord(
      z.enum(["greeting", "thanks", "goodbye", "help", "agreement", "bot", "abilities", "added", "handoff"]),
      z.string(),
    )
    .default({}),
  /** How people who help are spoken of. */
  person: z
    .strictObject({
      /** A reply with one of these promises that a person will look, call or write. */
      promises: z.array(wording),
      /** What makes a sentence an instruction instead: "if you send us …, a colleague will call". */
      conditions: phrases,
      /**
       * A message with one of these right before whom it wants, the second list of the first of `asks`, asks for a
       * person.
       */
      wants: phrases,
      /** A message with one of these asks for a person; two lists stand in any order. */
      asks: z.array(wording),
      /** A message that is nothing else, but for courtesies, asks for a person. */
      persons: phrases,
    })
    .optional(),
  /** How a message follows up on the one before. */
  followUp: z
    .strictObject({
      /** A message that begins with one of these follows up on the one before. */
      beginnings: phrases,
      phrases,
      /** Words that stand for what was spoken of. */
      pronouns: phrases,
      /** Words that do so only where no noun follows them: elsewhere they are articles. */
      articles: phrases,
      /** Words that ask for more than was said, and those that ask why. */
      more: phrases,
      /** Verbs that add nothing to such a word: "give an example". */
      requests: phrases.default([]),
    })
    .optional(),
  /** What surrounds a question in a letter. */
  courtesies: z
    .strictObject({
      /** What a letter begins with before somebody is named; greetings count too. */
      salutations: phrases,
      /** Words of a salutation in addition to names. */
      addressed: phrases,
      /** What a message ends with: what follows is a signature. */
      closings: phrases,
      /** What leads to a question and says nothing of it. */
      leadIns: phrases,
      /** What asks kindly wherever it stands. */
      please: phrases,
      /** Words around the person who is asked for: "agent please". */
      kind: phrases,
      /** The same of when. */
      soon: phrases,
      /** Said before asking for a person by somebody who would rather not: "do I have to". */
      reluctant: phrases,
    })
    .optional(),
  /** Phrases in which a pronoun stands for nothing. */
  emptyPronouns: phrases.optional(),
  /** What turns a promise into its opposite. */
  negations: phrases.optional(),
});
export type Talk = z.infer<typeof talkSchema>;

/** What is written in chats of any language: it does not tell the language. */
export const SHARED = "mul";

export const DEFAULT_LANGUAGE = "en";

/** As ISO 639-1; of two languages that share a phrase the first one counts. */
const LANGUAGES =
  "mul en it de fr es pt nl sv da no fi ru sr ro ca eu ga hu lt id tr el hy ar hi ne ta yi cs pl uk ja zh ko vi th he fa";

/** Languages that put no spaces between words, or join what is said of a word to it. */
export const JOINED_LANGUAGES: ReadonlySet<string> = new Set(["ja", "ko", "th", "zh"]);

/** The scripts of languages that are not written in Latin letters. */
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

/** True when a text may be in a language: it has letters that this one is written in. */
export function isInScriptOf(text: string, language: string): boolean {
  return language === SHARED || (SCRIPTS[language] ?? /\p{Script=Latin}/u).test(text);
}

const talkOf = createLanguageFiles("talk", talkSchema);

/** How people talk, by language. */
export const talkByLanguage = lazily(
  (): ReadonlyMap<string, Talk> =>
    new Map(
      LANGUAGES.split(" ").flatMap((language): [string, Talk][] => {
        const talk = talkOf(language);
        return talk === null ? [] : [[language, talk]];
      }),
    ),
);

/** What is written in chats of any language. */
export function sharedTalk(): Talk {
  const shared = talkByLanguage().get(SHARED);
  if (shared === undefined) throw new Error(`data/talk/${SHARED}.json is missing`);
  return shared;
}

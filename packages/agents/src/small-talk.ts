import { foldAccents, questionWords, stopWords, tokenize } from "@svc/text";
import { lazily } from "./lazily.ts";
import { HELP_WORDS, MORE_SMALL_TALK } from "./small-talk-more.ts";
import { SHARED_FILLERS, SHARED_PHRASES, SMALL_TALK } from "./small-talk-phrases.ts";
import type { SmallTalkTopic } from "./small-talk-phrases.ts";

/** The last of these that a message holds is what it is about: "Hello, and thanks!" thanks. */
const TOPICS: readonly SmallTalkTopic[] = ["greeting", "thanks", "goodbye"];

/** Small talk is short; a longer message says something. */
const MAX_CHARS = 120;
const MAX_PHRASE_WORDS = 5;

/** Whoever is greeted has a name of at most so many words. */
const MAX_NAME_WORDS = 2;

interface Phrases {
  phrases: ReadonlyMap<string, SmallTalkTopic>;
  fillers: ReadonlySet<string>;
}

const sharedPhrases = lazily((): Phrases => indexPhrases({ phrases: SHARED_PHRASES, fillers: SHARED_FILLERS }));

const phrasesByLanguage = lazily(
  () =>
    new Map(
      Object.entries({ ...SMALL_TALK, ...MORE_SMALL_TALK }).map(([language, lists]): [string, Phrases] => [
        language,
        indexPhrases(lists),
      ]),
    ),
);

const DEFAULT_LANGUAGE = "en";

/**
 * The reply to a message that is nothing but a greeting, thanks or a goodbye (or several, or to somebody by name); null
 * for any other message, such as one that asks something as well. A thumb up thanks; "?" and "help" are asked back. It is
 * in the language of the message, of those that PostgreSQL has a stemmer for and some more. Where several have the same words ("hi", "ciao"), in `language`, that of the chat, if
 * it is one of them.
 */
export function replyToSmallTalk(
  text: string,
  options: { language?: string | undefined } = {},
): { text: string; topic: SmallTalkTopic | "help"; language: string } | null {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > MAX_CHARS) return null;
  const words = wordsOf(trimmed);
  const chatLanguage = options.language?.toLowerCase().split("-")[0] ?? DEFAULT_LANGUAGE;
  const help = readHelp(trimmed, words, chatLanguage);
  if (help !== null) return help;
  const readings = [...phrasesByLanguage().keys()].flatMap((language) => {
    const reading = readAs(words, language);
    return reading === null ? [] : [{ ...reading, language }];
  });
  const telling = readings.filter(({ isShared }) => !isShared);
  const possible = telling.length > 0 ? telling : readings;
  const chosen = possible.find(({ language }) => language === chatLanguage) ?? possible[0];
  const reply = SMALL_TALK[chosen?.language ?? ""] ?? MORE_SMALL_TALK[chosen?.language ?? ""];
  return chosen === undefined || reply === undefined
    ? null
    : { text: reply.replies[chosen.topic], topic: chosen.topic, language: chosen.language };
}

/** Signs of thanks and of being content. */
const THANKS_SIGNS = new Set("👍 👌 🙏 👏 😊 🙂 😀 😁 😄 ❤ 💙 💚 💛 💜 💖 💕 🥰 🎉 ✅".split(" "));

/** What only changes how a sign looks, and what may stand beside it. */
const BESIDE_SIGNS = /\p{Emoji_Modifier}|\u{FE0F}|\u{200D}|[\s!.]/gu;

function isThanksSign(text: string): boolean {
  return Array.from(text.replace(BESIDE_SIGNS, "")).every((sign) => THANKS_SIGNS.has(sign));
}

const helpPhrases = lazily(
  () =>
    new Map(
      Object.entries(HELP_WORDS).flatMap(([language, { phrases }]) =>
        phrasesOf(phrases).map((phrase): [string, string] => [phrase, language]),
      ),
    ),
);

/** The reply to a mere sign or to a call for help that does not say with what; null for anything else. */
function readHelp(
  text: string,
  words: readonly Word[],
  chatLanguage: string,
): { text: string; topic: SmallTalkTopic | "help"; language: string } | null {
  if (words.length > MAX_PHRASE_WORDS) return null;
  if (words.length === 0) {
    const thanks = SMALL_TALK[chatLanguage] ?? MORE_SMALL_TALK[chatLanguage] ?? SMALL_TALK[DEFAULT_LANGUAGE];
    if (/\p{Extended_Pictographic}/u.test(text)) {
      if (!isThanksSign(text) || thanks === undefined) return null;
      return { text: thanks.replies.thanks, topic: "thanks", language: languageOrDefault(chatLanguage) };
    }
    if (!/[?？؟]/.test(text)) return null;
  }
  const ownLanguage = helpPhrases().get(termsAt(words, 0, words.length));
  if (words.length > 0 && ownLanguage === undefined) return null;
  const language =
    HELP_WORDS[chatLanguage] !== undefined && isHelpIn(words, chatLanguage)
      ? chatLanguage
      : (ownLanguage ?? DEFAULT_LANGUAGE);
  const reply = HELP_WORDS[language]?.reply;
  return reply === undefined ? null : { text: reply, topic: "help", language };
}

function isHelpIn(words: readonly Word[], language: string): boolean {
  const phrase = termsAt(words, 0, words.length);
  return words.length === 0 || phrase === "help" || phrasesOf(HELP_WORDS[language]?.phrases ?? "").includes(phrase);
}

function languageOrDefault(language: string): string {
  return SMALL_TALK[language] === undefined && MORE_SMALL_TALK[language] === undefined ? DEFAULT_LANGUAGE : language;
}

interface Word {
  term: string;
  /** Begins with a capital and goes on without, as names do. */
  isCapitalized: boolean;
}

function isName({ term, isCapitalized }: Word, language: string): boolean {
  const hasMeaning = (one: string): boolean => stopWords(one).has(term) || questionWords(one).has(term);
  return isCapitalized && !hasMeaning(language) && !hasMeaning(DEFAULT_LANGUAGE);
}

/**
 * What a message is about if phrases and fillers of this language, those that all share, and a name are all that it
 * holds, else null. `isShared` when nothing in it is of this language alone.
 */
function readAs(words: readonly Word[], language: string): { topic: SmallTalkTopic; isShared: boolean } | null {
  const shared = sharedPhrases();
  const own = phrasesByLanguage().get(language) ?? shared;
  const topics = new Set<SmallTalkTopic>();
  let isShared = true;
  let canName = false;
  let nameWords = 0;
  let place = 0;
  while (place < words.length) {
    const word = words[place];
    const ownPhrase = longestPhrase(words, place, own);
    const phrase = ownPhrase ?? longestPhrase(words, place, shared);
    if (phrase !== null) {
      topics.add(phrase.topic);
      isShared &&= ownPhrase === null || isPhrase(words, place, phrase.length, shared);
      place += phrase.length;
      canName = true;
    } else if (word !== undefined && (own.fillers.has(word.term) || shared.fillers.has(word.term))) {
      isShared &&= shared.fillers.has(word.term);
      place += 1;
    } else if (canName && word !== undefined && isName(word, language) && nameWords < MAX_NAME_WORDS) {
      nameWords += 1;
      place += 1;
    } else {
      return null;
    }
  }
  const topic = TOPICS.findLast((one) => topics.has(one));
  return topic === undefined ? null : { topic, isShared };
}

function longestPhrase(
  words: readonly Word[],
  place: number,
  { phrases }: Phrases,
): { topic: SmallTalkTopic; length: number } | null {
  for (let length = Math.min(MAX_PHRASE_WORDS, words.length - place); length > 0; length -= 1) {
    const topic = phrases.get(termsAt(words, place, length));
    if (topic !== undefined) return { topic, length };
  }
  return null;
}

function isPhrase(words: readonly Word[], place: number, length: number, { phrases }: Phrases): boolean {
  return phrases.has(termsAt(words, place, length));
}

function termsAt(words: readonly Word[], place: number, length: number): string {
  return words
    .slice(place, place + length)
    .map(({ term }) => term)
    .join(" ");
}

/** The words of a message without accents; of a letter that is written many times ("hiii") one remains. */
function wordsOf(text: string): Word[] {
  return tokenize(text).map(({ term, start, end }) => ({
    term: foldAccents(term).replace(/(\p{L})\1{2,}/gu, "$1"),
    isCapitalized: /^\p{Lu}\p{Ll}+$/u.test(text.slice(start, end)),
  }));
}

/** The phrases of a list in the form in which a message is compared with them. */
function phrasesOf(list: string): string[] {
  return list.split(",").map((phrase) =>
    wordsOf(phrase)
      .map(({ term }) => term)
      .join(" "),
  );
}

function indexPhrases({ phrases, fillers }: { phrases: Record<SmallTalkTopic, string>; fillers: string }): Phrases {
  return { phrases: phraseIndex(phrases), fillers: new Set(phrasesOf(fillers)) };
}

function phraseIndex(lists: Record<SmallTalkTopic, string>): ReadonlyMap<string, SmallTalkTopic> {
  return new Map(
    TOPICS.flatMap((topic) => phrasesOf(lists[topic]).map((phrase): [string, SmallTalkTopic] => [phrase, topic])),
  );
}

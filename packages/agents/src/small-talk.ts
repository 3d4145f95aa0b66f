import { foldAccents, questionWords, stopWords, tokenize } from "@svc/text";
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

const SHARED: Phrases = { phrases: phraseIndex(SHARED_PHRASES), fillers: new Set(phrasesOf(SHARED_FILLERS)) };

const LANGUAGES = new Map(
  Object.entries(SMALL_TALK).map(([language, { phrases, fillers }]): [string, Phrases] => [
    language,
    { phrases: phraseIndex(phrases), fillers: new Set(phrasesOf(fillers)) },
  ]),
);

const DEFAULT_LANGUAGE = "en";

/**
 * The reply to a message that is nothing but a greeting, thanks or a goodbye (or several, or to somebody by name); null
 * for any other message, such as one that asks something as well. It is in the language of the message, of those that
 * PostgreSQL has a stemmer for. Where several have the same words ("hi", "ciao"), in `language`, that of the chat, if
 * it is one of them.
 */
export function replyToSmallTalk(
  text: string,
  options: { language?: string | undefined } = {},
): { text: string; topic: SmallTalkTopic; language: string } | null {
  const trimmed = text.trim();
  if (trimmed.length > MAX_CHARS) return null;
  const words = wordsOf(trimmed);
  const chatLanguage = options.language?.toLowerCase().split("-")[0] ?? DEFAULT_LANGUAGE;
  const readings = [...LANGUAGES.keys()].flatMap((language) => {
    const reading = readAs(words, language);
    return reading === null ? [] : [{ ...reading, language }];
  });
  const telling = readings.filter(({ isShared }) => !isShared);
  const possible = telling.length > 0 ? telling : readings;
  const chosen = possible.find(({ language }) => language === chatLanguage) ?? possible[0];
  const reply = SMALL_TALK[chosen?.language ?? ""];
  return chosen === undefined || reply === undefined
    ? null
    : { text: reply.replies[chosen.topic], topic: chosen.topic, language: chosen.language };
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
  const own = LANGUAGES.get(language) ?? SHARED;
  const topics = new Set<SmallTalkTopic>();
  let isShared = true;
  let canName = false;
  let nameWords = 0;
  let place = 0;
  while (place < words.length) {
    const word = words[place];
    const ownPhrase = longestPhrase(words, place, own);
    const phrase = ownPhrase ?? longestPhrase(words, place, SHARED);
    if (phrase !== null) {
      topics.add(phrase.topic);
      isShared &&= ownPhrase === null || isPhrase(words, place, phrase.length, SHARED);
      place += phrase.length;
      canName = true;
    } else if (word !== undefined && (own.fillers.has(word.term) || SHARED.fillers.has(word.term))) {
      isShared &&= SHARED.fillers.has(word.term);
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

function phraseIndex(lists: Record<SmallTalkTopic, string>): ReadonlyMap<string, SmallTalkTopic> {
  return new Map(
    TOPICS.flatMap((topic) => phrasesOf(lists[topic]).map((phrase): [string, SmallTalkTopic] => [phrase, topic])),
  );
}

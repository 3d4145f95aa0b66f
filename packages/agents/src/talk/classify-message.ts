import { stopWords } from "@svc/text";
import { lazily } from "../language-files.ts";
import { foldWords, matchWording, phrasesOf } from "../match-wording.ts";
import type { WordingMatcher } from "../match-wording.ts";
import { withoutCourtesies } from "../question-of.ts";
import { findTalk, readManner, readSigns } from "./find-talk.ts";
import { JOINED_LANGUAGES, sharedTalk, talkByLanguage } from "./read-talk.ts";
import type { TalkKind } from "./read-talk.ts";

const GAP_WORDS = 3;
const WANTED_GAP_WORDS = 1;

/** A request for a person takes a few words; of a longer text the beginning and the end are read. */
const MAX_READ_CHARS = 2_000;

/** What languages say of people who help. */
const personTalk = lazily(() =>
  [...talkByLanguage()].flatMap(([language, { person }]) => (person === undefined ? [] : [{ language, ...person }])),
);

const personNames = lazily(
  (): ReadonlySet<string> => new Set(personTalk().flatMap(({ persons }) => phrasesOf(persons))),
);
const kindWords = lazily(() => sharedTalk().courtesies?.kind ?? []);
const kindMatcher = lazily(() => matchWording([kindWords()], { gap: 0, isUnspaced: false }));

const personWords = lazily(
  (): ReadonlySet<string> =>
    new Set(
      [
        ...phrasesOf([...kindWords(), ...(sharedTalk().courtesies?.soon ?? [])]),
        ...personTalk().flatMap(({ asks, persons }) => phrasesOf([...persons, ...(asks[0]?.[1] ?? [])])),
      ].flatMap((phrase) => phrase.split(" ")),
    ),
);

const matchers = lazily((): readonly WordingMatcher[] =>
  personTalk().flatMap(({ language, asks, wants }) => {
    const isUnspaced = JOINED_LANGUAGES.has(language);
    const anyOrder = asks.flatMap((wording) => (wording.length > 1 ? [wording, wording.toReversed()] : [wording]));
    const persons = asks[0]?.[1];
    return [
      ...anyOrder.map((wording) => matchWording(wording, { gap: GAP_WORDS, isUnspaced })),
      ...(persons === undefined || wants.length === 0
        ? []
        : [
            wantedAlone(
              matchWording([wants, persons], { gap: WANTED_GAP_WORDS, isUnspaced }),
              isUnspaced ? "" : language,
            ),
          ]),
    ];
  }),
);

const reluctant = lazily(() => phrasesOf(sharedTalk().courtesies?.reluctant ?? []));

/** A message with more words says more than whom it wants. */
const MAX_NAMING_WORDS = 12;

/**
 * The last words of persons who are asked for: reading a message for courtesies takes ten times as long as finding
 * them.
 */
const lastWords = lazily(() => new Set([...personNames()].map((person) => person.split(" ").at(-1))));

/** What a message is: a question to the documents, a request for a person, or talk that no document answers. */
export type MessageKind = "question" | "person" | TalkKind;

/** What a message is, and the language in which that is said (ISO 639-1); of a question null. */
export interface MessageClass {
  kind: MessageKind;
  language: string | null;
}

/** What is known of the conversation. */
export interface MessageContext {
  /** That of the conversation, or of its customer's browser (ISO 639-1). */
  language?: string | null | undefined;
  /** True when an agent's answer is what was said last. */
  isAfterAnswer?: boolean;
  /** True if an operator replied last: a message that asks nothing is a statement to that person. */
  isAfterOperator?: boolean;
}

/**
 * What a message is. It is talk when every word of it belongs to the phrases of one language, or is empty or a name; a
 * complaint may hold other words, as long as it asks nothing. Knows the languages of `data/talk`.
 */
export function classifyMessage(text: string, context: MessageContext = {}): MessageClass {
  const chatLanguage = context.language?.toLowerCase().split("-")[0] ?? null;
  const wordless = readSigns(text);
  if (wordless !== null) return { kind: wordless, language: chatLanguage };
  const talk = findTalk(text, chatLanguage);
  // "Are you a real person?" asks for none, "human!" does.
  const isAboutBot = talk?.kind === "bot" && text.trim().includes(" ");
  if (!isAboutBot && asksForPerson(text)) return { kind: "person", language: talk?.language ?? chatLanguage };
  if (talk !== null) {
    return { kind: kindInContext(talk.kind, context), language: talk.language };
  }
  const tells = context.isAfterOperator === true && !readManner(text, chatLanguage).asks;
  return { kind: tells ? "statement" : "question", language: null };
}

/** Returns the kind of a message in its conversation: agreement with nothing asks for help. */
export function kindInContext(kind: MessageKind, { isAfterAnswer, isAfterOperator }: MessageContext): MessageKind {
  return kind === "agreement" && isAfterAnswer !== true && isAfterOperator !== true ? "help" : kind;
}

/** "I need a manager role" asks for something else: no further noun may follow the person who is asked for. */
function wantedAlone(match: WordingMatcher, language: string): WordingMatcher {
  const foldedStopWords = lazily(() => new Set([...stopWords(language)].map(foldWords)));
  return (words) => {
    const found = match(words);
    if (found === null) return null;
    const empty = foldedStopWords();
    if (empty.size === 0) return found;
    const [next = ""] = words.slice(found.end).trim().split(" ", 1);
    return next === "" || empty.has(next) || personWords().has(next) ? found : null;
  };
}

/**
 * True when a message asks for a person ("talk to a human", "agent please"), in one of the languages of `data/talk`.
 */
export function asksForPerson(message: string): boolean {
  const text = ends(message);
  const words = foldWords(text);
  if (namesPerson(text, words)) return true;
  const found =
    matchers()
      .map((match) => match(words))
      .find((position) => position !== null) ?? null;
  // Who asks whether it takes a person would rather have it without one.
  return found !== null && !reluctant().some((phrase) => words.slice(0, found.start).trimEnd().endsWith(phrase));
}

/** True when a message is nothing but whom it wants, and courtesies. */
function namesPerson(text: string, words: string): boolean {
  const all = words.split(" ");
  if (all.length > MAX_NAMING_WORDS || !all.some((word) => lastWords().has(word))) return false;
  const names = personNames();
  return names.has(withoutKindWords(words)) || names.has(withoutKindWords(foldWords(withoutCourtesies(text))));
}

function ends(text: string): string {
  return text.length <= 2 * MAX_READ_CHARS ? text : `${text.slice(0, MAX_READ_CHARS)}\n${text.slice(-MAX_READ_CHARS)}`;
}

function withoutKindWords(words: string): string {
  const kind = kindMatcher()(words);
  if (kind === null) return words;
  return `${words.slice(0, kind.start).trim()} ${words.slice(kind.end).trim()}`.trim();
}

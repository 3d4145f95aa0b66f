import { stopWords } from "@svc/text";
import { foldWords, lazily, matchWording, phrasesOf } from "../language-files.ts";
import type { WordingMatcher } from "../language-files.ts";
import { withoutCourtesies } from "../question-of.ts";
import { findTalk, readManner, readSigns } from "./find-talk.ts";
import { JOINED_LANGUAGES, sharedTalk, talkByLanguage } from "./read-talk.ts";
import type { TalkKind } from "./read-talk.ts";

const GAP_WORDS = 3;
const WANTED_GAP_WORDS = 1;

/** A request for a person is short; only the beginning and the end of a longer text are read. */
const MAX_READ_CHARS = 2_000;

/** Names of people who help, by language. */
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

/** A longer message has another topic than the requested person. */
const MAX_NAMING_WORDS = 12;

/** Last words of requested persons: checking for them is ten times faster than removing courtesies. */
const lastWords = lazily(() => new Set([...personNames()].map((person) => person.split(" ").at(-1))));

/** Kind of a message: a question for the documents, a request for a person, or small talk. */
export type MessageKind = "question" | "person" | TalkKind;

/** Kind of a message, and the language of its phrases (ISO 639-1); null for a question. */
export interface MessageClass {
  kind: MessageKind;
  language: string | null;
}

/** Context from the conversation. */
export interface MessageContext {
  /** Language of the conversation, or of its customer's browser (ISO 639-1). */
  language?: string | null | undefined;
  /** True if the last message is an agent's answer. */
  isAfterAnswer?: boolean;
  /** True if an operator replied last: a message that asks nothing is a statement to that person. */
  isAfterOperator?: boolean;
  /** True if that operator asked something: then thanks, "yes" and "no" are statements too. */
  isAfterQuestion?: boolean;
}

/** Returns the context of a message after these texts of its conversation, oldest first. */
export function contextAfter(
  history: readonly { author: string; text: string }[],
): Pick<MessageContext, "isAfterAnswer" | "isAfterOperator" | "isAfterQuestion"> {
  const last = history.findLast(({ author }) => author !== "customer")?.author;
  const isAfterOperator = last === "operator";
  const since = history.slice(history.findLastIndex(({ author }) => author === "customer") + 1);
  return {
    isAfterAnswer: last === "agent" || last === "system",
    isAfterOperator,
    isAfterQuestion:
      isAfterOperator && since.some(({ author, text }) => author === "operator" && hasQuestionMark(text)),
  };
}

/** Returns whether a text has a question mark outside its links. */
const hasQuestionMark = (text: string) =>
  text.split(/\s+/u).some((word) => !word.includes("://") && /[?？؟\u037e]/u.test(word));

/**
 * Classifies a message. It is small talk if each of its words is empty, a name, or part of the phrases of one language;
 * a complaint may have other words if it asks nothing. Supports the languages of `data/talk`.
 */
export function classifyMessage(text: string, context: MessageContext = {}): MessageClass {
  const chatLanguage = context.language?.toLowerCase().split("-")[0] ?? null;
  const wordless = readSigns(text);
  if (wordless !== null) return { kind: kindInContext(wordless, context), language: chatLanguage };
  const talk = findTalk(text, chatLanguage);
  // "Are you a real person?" does not ask for one, "human!" does.
  const isAboutBot = talk?.kind === "bot" && text.trim().includes(" ");
  if (!isAboutBot && asksForPerson(text)) return { kind: "person", language: talk?.language ?? chatLanguage };
  if (talk !== null) {
    return { kind: kindInContext(talk.kind, context), language: talk.language };
  }
  const tells = context.isAfterOperator === true && !readManner(text, chatLanguage).asks;
  return { kind: tells ? "statement" : "question", language: null };
}

/**
 * Returns the kind of a message in its conversation: agreement without an answer before it asks for help, and what needs
 * no reply elsewhere is an answer if an operator has just asked ("The blue one. Thanks!").
 */
export function kindInContext(kind: MessageKind, context: MessageContext): MessageKind {
  const { isAfterAnswer, isAfterOperator, isAfterQuestion } = context;
  if (isAfterQuestion === true && needsNoReply(kind)) return "statement";
  return kind === "agreement" && isAfterAnswer !== true && isAfterOperator !== true ? "help" : kind;
}

/** Returns whether a message needs no reply while an operator has the conversation. */
export function needsNoReply(kind: MessageKind): boolean {
  return kind === "thanks" || kind === "agreement" || kind === "goodbye" || kind === "greeting";
}

/** "I need a manager role" asks for something else: no other noun may follow the person. */
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
 * Returns whether a message asks for a person ("talk to a human", "agent please"), in one of the languages of
 * `data/talk`.
 */
export function asksForPerson(message: string): boolean {
  const text = ends(message);
  const words = foldWords(text);
  if (namesPerson(text, words)) return true;
  const found =
    matchers()
      .map((match) => match(words))
      .find((position) => position !== null) ?? null;
  // A customer who asks whether a person is needed would rather do without.
  return found !== null && !reluctant().some((phrase) => words.slice(0, found.start).trimEnd().endsWith(phrase));
}

/** Returns whether a message consists only of a requested person and courtesies. */
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

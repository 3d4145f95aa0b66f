import { detectLanguage, isSameWord, questionWords, stopWords, tokenize } from "@svc/text";
import type { Token } from "@svc/text";
import type { HistoryMessage } from "./answer.ts";
import { KINDS, kindOf } from "./answers/read-question.ts";
import { questionOf } from "./question-of.ts";
import { classifyMessage } from "./talk/classify-message.ts";
import { sharedTalk, talkByLanguage } from "./talk/read-talk.ts";
import type { Talk } from "./talk/read-talk.ts";

/** The search for a message that depends on earlier messages. */
export interface FollowUp {
  /** What to search for. */
  query: string;
  /**
   * Words of which an answer must contain some, in lower case: the message's own topic words or, if it only asks for
   * more, those of the earlier question. None for "How much is it?".
   */
  keyWords: string[];
  /** What it wants in addition to the last answer ("why", "example"); empty if it asks something else. */
  wanted: string[];
}

/** A longer message states its own topic. */
const MAX_CHARS = 200;
const MAX_WORDS = 10;

/** Maximum number of its own topic words in a message with a pronoun that depends on earlier ones. */
const MAX_OWN_WORDS = 2;

/** The same for a message that begins with "and" or a similar word. */
const MAX_OWN_WORDS_AFTER_AND = 4;

/** Maximum number of words of a question without a verb. */
const MAX_ELLIPTIC_WORDS = 4;

/** Maximum number of earlier messages of the customer that are read. */
const MAX_MESSAGES_BACK = 6;

/** Number of characters read of an earlier message. */
const MAX_EARLIER_CHARS = 4_000;

/** Maximum number of words of the earlier question that are searched for again. */
const MAX_EARLIER_WORDS = 24;

/**
 * Resolves a message that follows up on the customer's earlier messages: "And on Windows?", "What about the Pro plan?",
 * "How much is it?", "Why?", "Und unter Linux?". Null for a self-contained message. A word that takes the position of
 * an earlier one replaces it ("for Windows" replaces "for Mac"). Uses word lists for the languages with a PostgreSQL
 * stemmer; `language` is that of the chat, if known. `history` is in chronological order.
 */
export function readFollowUp(text: string, history: readonly HistoryMessage[], language?: string): FollowUp | null {
  const asked = history
    .filter(
      (message) => message.author === "customer" && classifyMessage(message.text, { language }).kind === "question",
    )
    .slice(-MAX_MESSAGES_BACK)
    .map((message) => questionOf(message.text.slice(0, MAX_EARLIER_CHARS)).slice(0, 1_000));
  const [first, ...later] = asked;
  if (first === undefined || text.length > MAX_CHARS) return null;
  const detected = detectLanguage(`${asked.join("\n")}\n${text}`, language).language;
  const lexicon = lexiconOf(detected);
  const topic = later.reduce((before, next) => resolveAfter(next, before, lexicon)?.query ?? next, first);
  return resolveAfter(text, topic, lexicon);
}

/** What distinguishes topic words from others in a language. */
interface Lexicon {
  language: string;
  beginnings: ReadonlySet<string>;
  phrases: readonly (readonly string[])[];
  pronouns: ReadonlySet<string>;
  articles: ReadonlySet<string>;
  more: ReadonlySet<string>;
  requests: ReadonlySet<string>;
  questionWords: ReadonlySet<string>;
  hasStopWords: boolean;
  /** Returns whether a word states a message's topic. */
  isTopic: (term: string) => boolean;
  /** German capitalizes all nouns; in other languages a capital within a sentence marks a name. */
  hasCapitalNouns: boolean;
}

const NO_WORDS: NonNullable<Talk["followUp"]> = {
  beginnings: [],
  phrases: [],
  pronouns: [],
  articles: [],
  more: [],
  requests: [],
};

const lexicons = new Map<string, Lexicon>();

function lexiconOf(language: string): Lexicon {
  const known = lexicons.get(language);
  if (known !== undefined) return known;
  const own = talkByLanguage().get(language)?.followUp;
  const words = own ?? NO_WORDS;
  const setOf = (list: readonly string[]): ReadonlySet<string> => new Set(list.flatMap(termsOf));
  const stops = stopWords(language);
  const beginnings = setOf(words.beginnings);
  const pronouns = setOf(words.pronouns);
  const articles = setOf(words.articles);
  const more = setOf(words.more);
  const phrases = words.phrases.map(termsOf).filter((phrase) => phrase.length > 0);
  const grammar = [beginnings, pronouns, articles, stops, questionWords(language)];
  const lexicon: Lexicon = {
    language,
    beginnings,
    phrases,
    pronouns,
    articles,
    more,
    requests: setOf(words.requests),
    questionWords: questionWords(language),
    hasStopWords: stops.size > 0,
    isTopic: (term) => !grammar.some((set) => set.has(term)),
    hasCapitalNouns: language === "de",
  };
  if (own !== undefined) lexicons.set(language, lexicon);
  return lexicon;
}

/** Resolves a message after a question about `topic`; null if it is not a follow-up. */
function resolveAfter(text: string, topic: string, lexicon: Lexicon): FollowUp | null {
  const tokens = tokenize(text.slice(0, MAX_CHARS + 1));
  const terms = tokens.map(({ term }) => term);
  if (text.length > MAX_CHARS || terms.length === 0 || terms.length > MAX_WORDS) return null;
  const phrase = lexicon.phrases.find((words) => words.every((word, position) => terms[position] === word)) ?? [];
  const more = terms.filter((term) => lexicon.more.has(term));
  const isRequest = (term: string): boolean => more.length > 0 && lexicon.requests.has(term);
  const isOwn = ({ term }: Token, position: number): boolean =>
    position >= phrase.length && lexicon.isTopic(term) && !lexicon.more.has(term) && !isRequest(term);
  const own = tokens.filter(isOwn);
  const wanted = own.length === 0 ? more : [];
  const asks = wanted.length > 0 || terms.some((term) => lexicon.questionWords.has(term));
  const begins = phrase.length > 0 || (lexicon.beginnings.has(terms[0] ?? "") && terms.length > 1);
  const isMarked = begins && own.length <= MAX_OWN_WORDS_AFTER_AND;
  const refersBack = own.length <= MAX_OWN_WORDS && hasPronoun(terms, lexicon);
  // "What age?", "How many lessons?"
  const isElliptic =
    own.length === 1 &&
    own[0] === tokens.at(-1) &&
    lexicon.questionWords.has(terms[0] ?? "") &&
    (terms.length === 2 ||
      (terms.length <= MAX_ELLIPTIC_WORDS && kindOf(text, [lexicon.language], KINDS) === "number"));
  if (!isMarked && !refersBack && !isElliptic && !(own.length === 0 && asks)) return null;
  const earlier = topicWords(topic, lexicon);
  const query = own.length === 0 ? `${text}\n${earlier.join(" ")}` : merge(text, own, topic, lexicon);
  return { query, keyWords: wanted.length > 0 ? earlier : own.map(({ term }) => term), wanted };
}

function hasPronoun(terms: readonly string[], lexicon: Lexicon): boolean {
  const text = ` ${terms.join(" ")} `;
  if ((sharedTalk().emptyPronouns ?? []).some((phrase) => text.includes(` ${phrase} `))) return false;
  return terms.some((_, position) => isPronoun(terms, position, lexicon));
}

function isPronoun(terms: readonly string[], position: number, lexicon: Lexicon): boolean {
  const term = terms[position] ?? "";
  const next = terms[position + 1];
  if (lexicon.articles.has(term)) return next === undefined || !lexicon.isTopic(next);
  return lexicon.pronouns.has(term);
}

/** Returns the earlier question with the new words in place of those that they replace, or added to it. */
function merge(text: string, own: readonly Token[], topic: string, lexicon: Lexicon): string {
  const replaced = findReplaced(text, own, topic, lexicon);
  if (replaced === null) return `${text}\n${topicWords(topic, lexicon).join(" ")}`;
  const { start, end } = replaced;
  const added = own.map((token) => text.slice(token.start, token.end)).join(" ");
  return `${topic.slice(0, start)}${added}${topic.slice(end)}`;
}

interface NamedPlace {
  start: number;
  end: number;
}

/**
 * Finds what the new words replace in the earlier question: the words after the same word ("for Mac", "for Windows"),
 * next to the same word ("Basic plan", "Pro plan"), or its only name if the new word is a name. Null unless there is
 * exactly one such position.
 */
function findReplaced(text: string, own: readonly Token[], topic: string, lexicon: Lexicon): NamedPlace | null {
  if (!lexicon.hasStopWords) return null;
  const before = tokenize(topic);
  const found = [
    besideSameWord(own, before, lexicon),
    behindSameWord(tokenize(text), own, before, lexicon),
    lexicon.hasCapitalNouns || !own.every((token) => isName(text, token)) ? [] : namesIn(topic, before, lexicon),
  ];
  return found.find((positions) => positions.length === 1)?.[0] ?? null;
}

function behindSameWord(
  tokens: readonly Token[],
  own: readonly Token[],
  before: readonly Token[],
  lexicon: Lexicon,
): NamedPlace[] {
  const first = own[0];
  const marker = tokens[tokens.findIndex((token) => token.start === first?.start) - 1]?.term;
  if (marker === undefined || lexicon.isTopic(marker) || lexicon.beginnings.has(marker)) return [];
  return before.flatMap((token, index) =>
    token.term === marker ? runAt(before.slice(index + 1, index + 1 + own.length), lexicon) : [],
  );
}

/** Returns the topic words at the beginning of the tokens. */
function runAt(tokens: readonly Token[], { isTopic }: Lexicon): NamedPlace[] {
  const end = tokens.findIndex(({ term }) => !isTopic(term));
  const run = end === -1 ? tokens : tokens.slice(0, end);
  const [first, last] = [run[0], run.at(-1)];
  return first === undefined || last === undefined ? [] : [{ start: first.start, end: last.end }];
}

function besideSameWord(own: readonly Token[], before: readonly Token[], { isTopic }: Lexicon): NamedPlace[] {
  const shared = own.findIndex(({ term }) => before.some((token) => isSameWord(token.term, term)));
  const head = own[shared];
  if (head === undefined || own.length === 1) return [];
  // The new word is before or after the shared one; the word that it replaces usually is on the same side.
  const step = shared > 0 ? -1 : 1;
  return before.flatMap((token, index) => {
    const neighbour = before[index + step];
    if (!isSameWord(token.term, head.term) || neighbour === undefined || !isTopic(neighbour.term)) return [];
    return [{ start: Math.min(token.start, neighbour.start), end: Math.max(token.end, neighbour.end) }];
  });
}

const isName = (text: string, { start, end }: Token): boolean => /\p{Lu}/u.test(text.slice(start, end));

function namesIn(topic: string, tokens: readonly Token[], { isTopic }: Lexicon): NamedPlace[] {
  const startsSentence = ({ start }: Token): boolean => /(?:^|[.?!¿¡]\s*|\n)$/.test(topic.slice(0, start).slice(-4));
  return tokens
    .filter((token) => isTopic(token.term) && isName(topic, token) && !startsSentence(token))
    .map(({ start, end }) => ({ start, end }));
}

/** Returns the topic words of the earlier question. */
function topicWords(topic: string, { isTopic }: Lexicon): string[] {
  const terms = tokenize(topic).map(({ term }) => term);
  return [...new Set(terms.filter(isTopic))].slice(0, MAX_EARLIER_WORDS);
}

function termsOf(text: string): string[] {
  return tokenize(text).map(({ term }) => term);
}

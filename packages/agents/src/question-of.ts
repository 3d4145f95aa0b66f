import { detectLanguage, foldAccents, questionWords, splitSentences, stopWords, tokenize } from "@svc/text";
import type { Token } from "@svc/text";
import { askingVerbs } from "./answers/read-question.ts";
import { lazily } from "./language-files.ts";
import { isSmallTalk as isTalk, smallTalkOf } from "./talk/find-talk.ts";
import { sharedTalk, talkByLanguage } from "./talk/read-talk.ts";
import type { Talk } from "./talk/read-talk.ts";

/** Number of sentences at each end that are searched for courtesies. */
const EDGE_SENTENCES = 20;

/** The middle of a longer message is not read: it rarely contains questions, and this limits the work. */
const MAX_CHARS = 12_000;

/** Maximum length of a salutation. */
const MAX_SALUTATION_WORDS = 7;

/** Maximum number of words of a name in small letters ("hi anna,"). */
const MAX_LOOSE_WORDS = 3;

/** A shorter line was ended by its writer, not wrapped. */
const MIN_WRAPPED_CHARS = 50;

/** A question with fewer words of its own needs the sentences around it: "What shall I do?". */
const MIN_TELLING_WORDS = 3;

/** Maximum number of separate questions of a message. */
const MAX_QUESTIONS = 4;

/** Number of characters read to detect a language. */
const MAX_DETECTED_CHARS = 1_000;

const salutationPhrases = lazily(() => phraseSet("salutations"));
const addressedWords = lazily(() => phraseSet("addressed"));
const closingPhrases = lazily(() => phraseSet("closings"));
const leadInPhrases = lazily(() => phraseSet("leadIns"));
const pleasePhrases = lazily(() => phraseSet("please"));

/**
 * Returns the question of a message without its courtesies: salutation, thanks, closing and signature, "could you
 * please tell me". Keeps the sentences that ask, as many others as are needed to know their topic, and all names with
 * digits (`E07`); a message without a question is kept as a whole. The result has words if the message has, and equals
 * the message if there is nothing to leave out. Only the beginning and the end of a very long message are read.
 */
export function questionOf(text: string): string {
  return readQuestion(text).question;
}

/**
 * Returns the sentences of `questionOf` verbatim, for people: "Please delete my account" instead of "delete my
 * account".
 */
export function questionAsWritten(text: string): string {
  return readQuestion(text).written;
}

function readQuestion(text: string): { question: string; written: string } {
  const sentences = sentencesOf(
    text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS / 2)}\n\n${text.slice(-MAX_CHARS / 2)}` : text,
  );
  const letter = withoutClosing(sentences.map((sentence) => ({ text: sentence, asks: isQuestion(sentence) })));
  const body = letter.flatMap(({ text: sentence, asks }, index) => {
    const stripped = index < 3 ? withoutSalutation(sentence) : sentence;
    const { rest, isLed } = withoutLeadIns(stripped.replace(CALL_FOR_HELP, ""));
    return isSmallTalk(rest) ? [] : [{ text: rest, written: stripped, asks: asks || isLed }];
  });
  if (body.length === 0) return { question: text.trim(), written: text.trim() };
  const kept = sentences.length === 1 ? body : keepWhatAsks(body);
  const isWhole = kept.length === sentences.length && kept.every((part, index) => part.text === sentences[index]);
  if (isWhole) return { question: text, written: text };
  const join = (of: "text" | "written") => kept.map((part) => part[of].trim()).join(" ");
  return { question: join("text"), written: join("written") };
}

/**
 * Returns the separate questions of a message after `questionOf`, in order: "When do you open? And how much is a ticket?",
 * "when do you open and how much is a ticket". Each has the statements before it; the last one has everything beyond
 * `MAX_QUESTIONS`. One element if the message asks one thing.
 */
export function separateQuestions(asked: string, chatLanguage?: string): string[] {
  const { language } = detectLanguage(asked.slice(0, MAX_DETECTED_CHARS), chatLanguage);
  const words = askingWords(language);
  const sentences = sentencesOf(asked).map((sentence) => sentence.trim());
  // Beside a question, "When I open it, it crashes" is a statement; without question marks, "when do you open" asks.
  const hasMarks = sentences.some(isQuestion);
  const questions: string[] = [];
  let stated = "";
  for (const sentence of sentences) {
    const split = splitAtAnd(sentence, words);
    const asks = isQuestion(sentence) || split[0] !== sentence || (!hasMarks && words.begins(tokenize(sentence)));
    if (!asks) stated = `${stated} ${sentence}`.trim();
    for (const part of asks ? split : []) {
      const question = `${stated} ${part}`.trim();
      stated = "";
      const previous = questions.at(-1);
      const asksAlone = tokenize(part).some((token) => !words.isEmpty(token));
      if (previous !== undefined && (questions.length === MAX_QUESTIONS || !asksAlone)) {
        questions[questions.length - 1] = `${previous} ${question}`;
      } else {
        questions.push(question);
      }
    }
  }
  const last = questions.at(-1);
  if (last === undefined) return [asked];
  if (stated !== "") questions[questions.length - 1] = `${last} ${stated}`;
  return questions.length === 1 ? [asked] : questions;
}

interface AskingWords {
  /** "and". */
  and: string | undefined;
  /** Returns whether a word says nothing about the topic. */
  isEmpty: (token: Token) => boolean;
  /** Returns whether words begin with a question: "at what time", "can I". A statement begins with its subject. */
  begins: (tokens: readonly Token[]) => boolean;
}

function askingWords(language: string): AskingWords {
  const [and] = talkByLanguage().get(language)?.followUp?.beginnings ?? [];
  const asking = questionWords(language);
  const verbs = askingVerbs(language);
  const common = stopWords(language);
  const isEmpty = ({ term }: Token) => common.has(term) || asking.has(term);
  return {
    and,
    isEmpty,
    begins: ([first, second]) =>
      first !== undefined &&
      (asking.has(first.term) ||
        (second !== undefined &&
          ((isEmpty(first) && asking.has(second.term)) || (verbs.has(first.term) && isEmpty(second))))),
  };
}

/** Splits a question at "and" before a question, at most `times`: "When do you open and how much is a ticket?". */
function splitAtAnd(sentence: string, words: AskingWords, times = MAX_QUESTIONS): string[] {
  if (times === 0) return [sentence];
  const tokens = tokenize(sentence);
  const at = tokens.findIndex(
    ({ term }, index) =>
      term === words.and &&
      words.begins(tokens.slice(index + 1)) &&
      (index === 0 ||
        ((isQuestion(sentence) || words.begins(tokens)) && !tokens.slice(0, index).every(words.isEmpty))) &&
      !tokens.slice(index + 1).every(words.isEmpty),
  );
  const [before, after] = [tokens[at], tokens[at + 1]];
  if (before === undefined || after === undefined) return [sentence];
  const first = sentence.slice(0, before.start).trim();
  return [...(first === "" ? [] : [first]), ...splitAtAnd(sentence.slice(after.start), words, times - 1)];
}

/** Removes greeting, thanks, closing and signature from a text; empty if it has nothing else. */
export function withoutCourtesies(text: string): string {
  const parts = withoutClosing(sentencesOf(text).map((sentence) => ({ text: sentence, asks: isQuestion(sentence) })));
  const stripped = parts.map((part, index) => (index < 3 ? withoutSalutation(part.text) : part.text).trim());
  const first = stripped.slice(0, EDGE_SENTENCES).find(saysSomething);
  const last = stripped.slice(-EDGE_SENTENCES).findLast(saysSomething);
  if (first === undefined || last === undefined) return "";
  // The text between the two is kept verbatim, including blank lines.
  const start = text.indexOf(first);
  return text.slice(start, Math.max(text.lastIndexOf(last) + last.length, start));
}

function saysSomething(sentence: string): boolean {
  return sentence !== "" && !isSmallTalk(sentence);
}

/** Matches a call for help at the end of a sentence with a topic. */
const CALL_FOR_HELP =
  /(?<=\p{L})\s{0,3}[,.!;–-]\s{0,3}(?:help|hilfe|aide|ayuda|aiuto|ajuda)(?: me)?\s{0,3}[!.?]{0,9}\s*$/iu;

interface Part {
  text: string;
  asks: boolean;
}

/** A part with its original words, without the salutation. */
interface WrittenPart extends Part {
  written: string;
}

/** Returns sentences, and lines that were ended on purpose. */
function sentencesOf(text: string): string[] {
  const ends = new Set<number>([text.length]);
  for (const { end } of splitSentences(text)) ends.add(end);
  let lineStart = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", lineStart)) {
    const line = text.slice(lineStart, at).trimEnd();
    const next = text.slice(at + 1, at + 200);
    const isEnded = line.length < MIN_WRAPPED_CHARS || /[.!?,:;…。！？]$/.test(line) || /^\s*\n/.test(next);
    if (isEnded || startsWith(tokenize(next), closingPhrases()) > 0) ends.add(at);
    lineStart = at + 1;
  }
  let start = 0;
  return [...ends]
    .sort((a, b) => a - b)
    .flatMap((end) => {
      const sentence = text.slice(start, end);
      start = end;
      return sentence.trim() === "" ? [] : [sentence];
    });
}

function isQuestion(sentence: string): boolean {
  return /[?？؟¿]/.test(sentence) || /;\s*$/.test(sentence);
}

/** Returns the parts before the closing, if nothing after it asks. A closing may follow a comma. */
function withoutClosing(parts: readonly Part[]): Part[] {
  const lastAsking = parts.findLastIndex(({ asks }) => asks);
  for (const [index, part] of parts.entries()) {
    if (index < lastAsking) continue;
    const isDelimiter = /^\s*--\s*$/.test(part.text);
    if (index > lastAsking && index > 0 && (isDelimiter || startsWith(tokenize(part.text), closingPhrases()) > 0)) {
      return parts.slice(0, index);
    }
    const comma = closingComma(part.text);
    if (comma > 0) return [...parts.slice(0, index), { ...part, text: part.text.slice(0, comma) }];
  }
  return [...parts];
}

/** Returns the offset of a closing within a sentence; -1 if there is none. Text with a question is not a signature. */
function closingComma(sentence: string): number {
  const question = Math.max(sentence.lastIndexOf("?"), 0);
  for (const { index } of sentence.slice(question).matchAll(/[,.?!–-]\s/g)) {
    const at = question + index + 1;
    if (startsWith(tokenize(sentence.slice(at, at + 80)), closingPhrases()) > 0) return at;
  }
  return -1;
}

/** Removes a greeting or salutation with its name, as in "Dear Mrs Miller, …". */
function withoutSalutation(sentence: string): string {
  const clause = /^[^,!.:;?\n–—]{1,80}(?:[,!.:;\n–—]+|$)/.exec(sentence.trimStart())?.[0] ?? "";
  const rest = sentence.trimStart().slice(clause.length);
  const tokens = tokenize(clause);
  const length = startsWith(tokens, salutationPhrases());
  // "Hi-res images" is not a greeting.
  if (length === 0 || clause.charAt(tokens[length - 1]?.end ?? 0) === "-") return sentence;
  const beyond = tokens.slice(length);
  const isNamed = beyond.every(
    ({ term, start, end }) => addressedWords().has(foldAccents(term)) || /^\p{Lu}/u.test(clause.slice(start, end)),
  );
  const isEnded = clause.trim() !== clause.trim().replace(/[,!.:;\n–—]+$/, "");
  if (isEnded && tokens.length <= MAX_SALUTATION_WORDS && (isNamed || tokens.length <= MAX_LOOSE_WORDS)) return rest;
  // "Hi how much is it": removes the greeting alone if a word follows it.
  const [first, next] = [tokens[length - 1], tokens[length]];
  if (first === undefined || next === undefined || !/^\s+$/.test(clause.slice(first.end, next.start))) return sentence;
  return isGreeting(clause.slice(0, first.end)) ? sentence.trimStart().slice(next.start) : sentence;
}

function isGreeting(text: string): boolean {
  return smallTalkOf(text) === "greeting";
}

const MAX_SMALL_TALK_CHARS = 100;

function isSmallTalk(sentence: string): boolean {
  const text = sentence.trim();
  if (text.length > MAX_SMALL_TALK_CHARS) return false;
  return tokenize(text).length === 0 || isTalk(text);
}

/** Removes introductory phrases and courtesies from a sentence, and the punctuation they leave at its beginning. */
function withoutLeadIns(sentence: string): { rest: string; isLed: boolean } {
  const tokens = tokenize(sentence);
  let rest = "";
  let from = 0;
  let isLed = false;
  for (let at = 0; at < tokens.length;) {
    const lead = matchAt(tokens, at, leadInPhrases());
    const length = lead > 0 ? lead : matchAt(tokens, at, pleasePhrases());
    const [first, last] = [tokens[at], tokens[at + length - 1]];
    if (length > 0 && first !== undefined && last !== undefined) {
      rest += sentence.slice(from, first.start);
      from = last.end;
      isLed ||= lead > 0;
    }
    at += Math.max(length, 1);
  }
  if (from === 0) return { rest: sentence, isLed };
  const stripped = `${rest}${sentence.slice(from)}`.replace(/^[\s,:;.!–—-]+/, "").replace(/\s+/g, " ");
  return { rest: stripped, isLed };
}

/** Returns the sentences that ask, those that state their topic, and names with digits of the others. */
function keepWhatAsks(parts: readonly WrittenPart[]): WrittenPart[] {
  const { language } = detectLanguage(
    parts
      .map((part) => part.text)
      .join(" ")
      .slice(0, MAX_DETECTED_CHARS),
  );
  const asking = questionWords(language);
  const empty = stopWords(language);
  const read = parts.map((part) => {
    const terms = tokenize(part.text).map(({ term }) => term);
    const stripped = terms.filter((term) => !empty.has(term) && !asking.has(term));
    return { ...part, asks: part.asks || asking.has(terms[0] ?? ""), stated: new Set(stripped) };
  });
  if (read.every(({ asks }) => asks) || read.every(({ asks }) => !asks)) return [...parts];
  const kept = new Set(read.flatMap((part, index) => (part.asks ? [index] : [])));
  const first = Math.min(...kept);
  // A question refers to what was said just before it, or else to what follows.
  const nearest = read.map((_, index) => index).sort((a, b) => distance(a, first) - distance(b, first));
  const telling = new Set([...kept].flatMap((index) => [...(read[index]?.stated ?? [])]));
  for (const index of nearest) {
    if (telling.size >= MIN_TELLING_WORDS) break;
    kept.add(index);
    for (const term of read[index]?.stated ?? []) telling.add(term);
  }
  return read.flatMap((part, index): WrittenPart[] => {
    if (kept.has(index)) return [part];
    const codes = part.text.match(CODE) ?? [];
    return codes.length === 0 ? [] : [{ text: codes.join(" "), written: codes.join(" "), asks: false }];
  });
}

/** Matches a name with letters and digits, such as that of a model, an error or a part. */
const CODE = /\b(?=[A-Za-z0-9-]{0,19}[A-Za-z])(?=[A-Za-z0-9-]{0,19}\d)[A-Za-z0-9][A-Za-z0-9-]{1,19}\b/g;

function distance(index: number, from: number): number {
  return index < from ? from - index : 1_000_000 + index - from;
}

/** Returns the length of the longest phrase at the beginning of a list of words; 0 if there is none. */
function startsWith(tokens: readonly { term: string }[], phrases: PhraseSet): number {
  return matchAt(tokens, 0, phrases);
}

interface PhraseSet {
  has(phrase: string): boolean;
  longest: number;
}

function matchAt(tokens: readonly { term: string }[], at: number, phrases: PhraseSet): number {
  for (let length = Math.min(phrases.longest, tokens.length - at); length > 0; length -= 1) {
    if (phrases.has(joined(tokens.slice(at, at + length)))) return length;
  }
  return 0;
}

function joined(tokens: readonly { term: string }[]): string {
  return tokens.map(({ term }) => foldAccents(term)).join(" ");
}

function phraseSet(name: keyof NonNullable<Talk["courtesies"]>): PhraseSet {
  const phrases = (sharedTalk().courtesies?.[name] ?? []).map((phrase) => tokenize(phrase));
  const known = new Set(phrases.map(joined));
  return { has: (phrase) => known.has(phrase), longest: Math.max(...phrases.map(({ length }) => length)) };
}

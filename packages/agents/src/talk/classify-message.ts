import { detectLanguage, questionWords, stopWords } from "@svc/text";
import { asksForPerson } from "../asks-for-person.ts";
import { compilePhrases, talkCharacters, talkTokens } from "./match-phrases.ts";
import type { PhraseMatcher, TalkToken } from "./match-phrases.ts";
import { DEFAULT_LANGUAGE, SHARED, isInScriptOf, talkByLanguage } from "./read-talk.ts";
import type { TalkKind } from "./read-talk.ts";

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
  /** True when an operator's reply is what was said last: what asks nothing tells that person something. */
  isAfterOperator?: boolean;
}

/** Talk is short; a longer message says something. */
const MAX_CHARS = 200;
/** A complaint may be longer, and its reasons are of any words. */
const MAX_COMPLAINT_CHARS = 600;

/** Somebody who is greeted or thanked has a name of at most so many words. */
const MAX_NAME_WORDS = 2;

/** So many words of a message that thanks may be of any kind, and no more than half of them. */
const MAX_LOOSE_WORDS = 2;

/** "ok?" with no more words than this asks back; a longer question asks something. */
const MAX_MARKED_WORDS = 3;

/** The first of these that a message says is what it is about, whatever else it says. */
const DECIDING: readonly TalkKind[] = ["abilities", "help", "bot", "statement"];

/** Of these the last one counts: "Hello, and thanks!" thanks. */
const SOCIAL: readonly TalkKind[] = ["greeting", "praise", "solved", "thanks", "goodbye"];

/** What states nothing, whatever else is said of it. */
const BARE: ReadonlySet<string> = new Set(["greeting", "thanks", "goodbye", "help", "filler"]);

/**
 * What a message is. It is talk when every word of it belongs to the phrases of one language, or is empty or a name; a complaint
 * may hold other words, as long as it asks nothing. Knows the languages of `data/talk`.
 */
export function classifyMessage(text: string, context: MessageContext = {}): MessageClass {
  const chatLanguage = context.language?.toLowerCase().split("-")[0] ?? null;
  const wordless = readSigns(text);
  if (wordless !== null) return { kind: wordless, language: chatLanguage };
  const talk = text.length > MAX_COMPLAINT_CHARS ? null : readTalk(text, chatLanguage);
  // "Are you a real person?" asks for none, "human!" does.
  const isAboutBot = talk?.kind === "bot" && text.trim().includes(" ");
  if (!isAboutBot && asksForPerson(text)) return { kind: "person", language: talk?.language ?? chatLanguage };
  if (talk !== null) {
    const isOpening = talk.kind === "agreement" && context.isAfterAnswer !== true && context.isAfterOperator !== true;
    return { kind: isOpening ? "help" : talk.kind, language: talk.language };
  }
  const tells = context.isAfterOperator === true && !asksSomething(text, chatLanguage);
  return { kind: tells ? "statement" : "question", language: null };
}

/** True when a text is nothing but greetings, thanks, goodbyes or a call for help without a subject: it states nothing. */
export function isSmallTalk(text: string): boolean {
  return smallTalkOf(text) !== null;
}

/** Which of these a text is, or null. */
export function smallTalkOf(text: string): TalkKind | null {
  if (text.length > MAX_CHARS) return null;
  const talk = readTalk(text, null);
  return talk?.isBare === true && talk.kind !== "person" ? talk.kind : null;
}

const PLEASED = /[👍👌🙏👏😊🙂😀😁😄😃❤💙💚💛💜💖💕🥰😍🎉✅🤝💯]/u;
const DISPLEASED = /[👎😡😠🤬😤😞😢😭💩🙄😒😩😫]/u;

/** What a message without words says; null for one with words, or without anything. */
function readSigns(text: string): TalkKind | null {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > MAX_CHARS || /[\p{L}\p{N}]/u.test(trimmed)) return null;
  if (DISPLEASED.test(trimmed)) return "complaint";
  return PLEASED.test(trimmed) ? "thanks" : "help";
}

interface Lexicon {
  match: PhraseMatcher;
  isUnspaced: boolean;
  isFiller: (term: string) => boolean;
  /** True for a word that asks, or makes a message say more than its phrases. */
  isTurn: (term: string) => boolean;
  /** True for a word that tells of a problem or denies something, or holds digits. */
  isProblem: (term: string) => boolean;
}

const lexicons = new Map<string, Lexicon>();

/** Made when a text in its script is first read. */
function lexiconOf(language: string): Lexicon {
  const known = lexicons.get(language);
  if (known !== undefined) return known;
  const made = makeLexicon(language);
  if (talkByLanguage().has(language)) lexicons.set(language, made);
  return made;
}

function makeLexicon(language: string): Lexicon {
  const own = talkByLanguage().get(language);
  const shared = language === SHARED ? {} : (talkByLanguage().get(SHARED)?.phrases ?? {});
  const isUnspaced = own?.isUnspaced === true;
  const turn = own?.phrases.turn ?? [];
  const turns = foldAll([...turn, ...questionWords(language)]);
  const isTurn = (term: string) => turns.has(term);
  const problems = foldAll(own?.phrases.problem ?? []);
  const isProblem = (term: string) => problems.has(term) || /\p{N}/u.test(term);
  // What somebody states is no statement of a problem.
  const isBlocked = (term: string, kind: string) => isTurn(term) || (kind === "statement" && problems.has(term));
  // Where nobody has listed what turns a message, an empty word may be just that.
  const empty = turn.length === 0 ? new Set<string>() : foldAll(stopWords(language));
  const { problem: _, ...ownPhrases } = own?.phrases ?? {};
  const phrases = Object.fromEntries(
    Object.keys({ ...ownPhrases, ...shared }).map((kind): [string, string[]] => [
      kind,
      [...(ownPhrases[kind as TalkKind] ?? []), ...(shared[kind as TalkKind] ?? [])],
    ]),
  );
  return {
    match: compilePhrases(phrases, { words: own?.words ?? {}, isUnspaced, isBlocked }),
    isUnspaced,
    isFiller: (term) => empty.has(term) && !isTurn(term),
    isTurn,
    isProblem,
  };
}

/** The single words of a list, folded. */
function foldAll(terms: Iterable<string>): Set<string> {
  return new Set(
    [...terms].flatMap((term) => {
      const tokens = talkTokens(term);
      return tokens.length === 1 ? tokens.map((token) => token.term) : [];
    }),
  );
}

/** What the phrases of a language find in a message. */
interface Reading {
  kinds: Set<string>;
  /** True when a word that changes nothing stands first. */
  beginsEmpty: boolean;
  uncovered: TalkToken[];
  /** How many empty words stand beside the phrases. */
  emptyWords: number;
  isTurned: boolean;
}

function read(tokens: readonly TalkToken[], { match, isFiller, isTurn }: Lexicon): Reading {
  const reading: Reading = { kinds: new Set(), beginsEmpty: false, uncovered: [], emptyWords: 0, isTurned: false };
  for (let place = 0; place < tokens.length;) {
    const token = tokens[place] as TalkToken;
    const found = match(tokens, place);
    const end = Math.max(...found.values());
    if (end > place) {
      const longest = [...found.keys()].filter((kind) => found.get(kind) === end);
      for (const kind of longest) reading.kinds.add(kind);
      if (place === 0) reading.beginsEmpty = longest.every((kind) => kind === "filler");
      // One phrase is read in one way, and as a turn only where it can be nothing else.
      if (longest.every((kind) => kind === "turn" || kind === "filler") && longest.includes("turn"))
        reading.isTurned = true;
      place = end;
    } else {
      if (isTurn(token.term)) reading.isTurned = true;
      if (isFiller(token.term)) reading.emptyWords += 1;
      else reading.uncovered.push(token);
      place += 1;
    }
  }
  return reading;
}

/** What a message says in a language, if it is talk; `isWhole` when it says nothing else. */
function decideIn(
  tokens: readonly TalkToken[],
  { language, isMarked, chars }: { language: string; isMarked: boolean; chars: number },
): { kind: TalkKind | "person"; isWhole: boolean; isBare?: boolean } | null {
  const lexicon = lexiconOf(language);
  const { kinds, uncovered, emptyWords, beginsEmpty, isTurned } = read(
    lexicon.isUnspaced ? talkCharacters(tokens) : tokens,
    lexicon,
  );
  if (kinds.has("person")) return { kind: "person", isWhole: uncovered.length === 0 };
  if (isTurned) return null;
  const social = SOCIAL.findLast((kind) => kinds.has(kind));
  const isNamed =
    language !== SHARED && social !== undefined && uncovered.length <= MAX_NAME_WORDS && uncovered.every(mayBeName);
  if (uncovered.length > 0 && !isNamed) {
    // What made somebody angry, or solved a problem, is said in any words, and thanks with a few.
    if (isMarked) return null;
    if (kinds.has("complaint")) return { kind: "complaint", isWhole: false };
    const isLoose = kinds.has("thanks") && uncovered.length <= Math.min(MAX_LOOSE_WORDS, tokens.length / 2);
    const isPlain =
      chars <= MAX_CHARS && !kinds.has("negation") && !uncovered.some(({ term }) => lexicon.isProblem(term));
    return isPlain && (kinds.has("solved") || isLoose) ? { kind: "thanks", isWhole: false } : null;
  }
  const isDenied = kinds.has("negation") && (kinds.has("praise") || kinds.has("solved"));
  if (isDenied || kinds.has("complaint")) return isMarked ? null : { kind: "complaint", isWhole: true };
  if (chars > MAX_CHARS) return null;
  const isBare = [...kinds].every((kind) => BARE.has(kind));
  const deciding = DECIDING.find((kind) => kinds.has(kind));
  if (deciding !== undefined) {
    return isMarked && deciding === "statement" ? null : { kind: deciding, isWhole: true, isBare };
  }
  if (isMarked && (beginsEmpty || emptyWords > 0 || (!kinds.has("greeting") && tokens.length > MAX_MARKED_WORDS)))
    return null;
  const agrees = kinds.has("agreement") && (social === undefined || social === "praise");
  if (social !== undefined && !agrees) return { kind: isPleased(social) ? "thanks" : social, isWhole: true, isBare };
  return agrees ? { kind: isMarked ? "help" : "agreement", isWhole: true } : null;
}

/** English words are written with capitals in messages of any language. */
function mayBeName({ term, isCapitalized }: TalkToken): boolean {
  const { isTurn, isFiller } = lexiconOf(DEFAULT_LANGUAGE);
  return isCapitalized && !isTurn(term) && !isFiller(term);
}

const isPleased = (kind: TalkKind) => kind === "praise" || kind === "solved";

/** A mail address, a long number, a telephone number: in phrases it stands as `00000`. */
const DATA = /[\w.+-]+@[\w-]+\.[\w.-]+|#?\b[A-Z]{0,4}-?\d[\d\s/-]{3,}\d\b|\+\d[\d\s/()-]{5,}\d/gu;

interface TalkReading {
  /** True when it states nothing. */
  isBare?: boolean;
  kind: TalkKind | "person";
  language: string | null;
}

function readTalk(text: string, chatLanguage: string | null): TalkReading | null {
  const tokens = talkTokens(text.replace(DATA, " 00000 "));
  if (tokens.length === 0) return null;
  const marks = { isMarked: /[?？؟]/u.test(text), chars: text.trim().length };
  const shared = decideIn(tokens, { ...marks, language: SHARED });
  if (shared?.isWhole === true) {
    return { ...shared, language: talkByLanguage().has(chatLanguage ?? "") ? chatLanguage : DEFAULT_LANGUAGE };
  }
  const readings = [...talkByLanguage().keys()].flatMap((language) => {
    const decided =
      language === chatLanguage || isInScriptOf(text, language) ? decideIn(tokens, { ...marks, language }) : null;
    return decided === null ? [] : [{ ...decided, language }];
  });
  const whole = readings.filter(({ isWhole }) => isWhole);
  if (whole.length > 0) return chooseReading(whole, text, chatLanguage);
  // Other words than those of the phrases say which language it is.
  const chosen = readings.length === 0 ? null : chooseReading(readings, text, chatLanguage);
  return chosen !== null && isIn(text, chosen.language, chatLanguage) ? chosen : null;
}

function chooseReading<One extends TalkReading & { language: string }>(
  readings: readonly One[],
  text: string,
  chatLanguage: string | null,
): One {
  const detected = readings.length > 1 ? detectLanguage(text).language : null;
  const chosen =
    readings.find(({ language }) => language === chatLanguage) ??
    readings.find(({ language }) => language === detected) ??
    (readings[0] as One);
  return chosen;
}

function isIn(text: string, language: string, chatLanguage: string | null): boolean {
  return language === chatLanguage || detectLanguage(text).language === language;
}

/** True when a text has a question mark, or a word that asks. */
function asksSomething(text: string, chatLanguage: string | null): boolean {
  if (/[?？؟]/u.test(text)) return true;
  const { language } = detectLanguage(text, chatLanguage ?? undefined);
  const lexicon = lexiconOf(language);
  const tokens = talkTokens(text);
  return read(lexicon.isUnspaced ? talkCharacters(tokens) : tokens, lexicon).isTurned;
}

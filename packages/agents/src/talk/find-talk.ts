import { detectLanguage, questionWords, stopWords } from "@svc/text";
import { compilePhrases, findPrefixes, talkCharacters, talkTokens } from "./match-phrases.ts";
import type { PhraseMatcher, TalkToken } from "./match-phrases.ts";
import { DEFAULT_LANGUAGE, SHARED, languagesByScript, talkByLanguage } from "./read-talk.ts";
import type { TalkKind } from "./read-talk.ts";

/** Maximum length of small talk. */
const MAX_CHARS = 200;
/** Maximum length of a complaint, which may give reasons in any words. */
const MAX_COMPLAINT_CHARS = 600;

/** Maximum number of words of a name after a greeting or thanks. */
const MAX_NAME_WORDS = 2;

/** Maximum number of other words in a message of thanks; at most half of all. */
const MAX_LOOSE_WORDS = 2;

/** "ok?" asks back up to this number of words; a longer question asks something else. */
const MAX_MARKED_WORDS = 3;

/** The first of these in a message decides its kind. */
const DECIDING: readonly TalkKind[] = ["abilities", "help", "bot", "statement"];

/** The last of these in a message decides: "Hello, and thanks!" is thanks. */
const SOCIAL: readonly TalkKind[] = ["greeting", "praise", "solved", "thanks", "goodbye"];

/** Kinds that decide nothing alone: a message with no others is no small talk. */
const ASIDES: ReadonlySet<string> = new Set(["filler", "turn", "negation"]);

/** Kinds without a statement. */
const BARE: ReadonlySet<string> = new Set(["greeting", "thanks", "goodbye", "help", "filler"]);

/**
 * Returns whether a text consists only of greetings, thanks, goodbyes or a call for help without a topic: it states
 * nothing.
 */
export function isSmallTalk(text: string): boolean {
  return smallTalkOf(text) !== null;
}

/** Returns the kind of small talk of a text, or null. */
export function smallTalkOf(text: string): TalkKind | null {
  if (text.length > MAX_CHARS) return null;
  const talk = findTalk(text, null);
  return talk?.isBare === true && talk.kind !== "person" ? talk.kind : null;
}

const PLEASED = /[👍👌🙏👏😊🙂😀😁😄😃❤💙💚💛💜💖💕🥰😍🎉✅🤝💯]/u;
const DISPLEASED = /[👎😡😠🤬😤😞😢😭💩🙄😒😩😫]/u;

/** Returns the kind of a message without words; null if it has words or is empty. */
export function readSigns(text: string): TalkKind | null {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > MAX_CHARS || /[\p{L}\p{N}]/u.test(trimmed)) return null;
  if (DISPLEASED.test(trimmed)) return "complaint";
  return PLEASED.test(trimmed) ? "thanks" : "help";
}

interface Lexicon extends PhraseMatcher {
  isUnspaced: boolean;
  isFiller: (term: string) => boolean;
  /** Returns whether a word asks, or gives a message another topic than its phrases. */
  isTurn: (term: string) => boolean;
  /** Returns whether a word reports a problem, negates or contains digits. */
  isProblem: (term: string) => boolean;
}

const lexicons = new Map<string, Lexicon>();

/** Created when a text in its script is first read. */
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
  // A statement is not one about a problem.
  const isBlocked = (term: string, kind: string) => isTurn(term) || (kind === "statement" && problems.has(term));
  // Without a list of turning words, an empty word may be one.
  const empty = turn.length === 0 ? new Set<string>() : foldAll(stopWords(language));
  const { problem: _, ...ownPhrases } = own?.phrases ?? {};
  const phrases = Object.fromEntries(
    Object.keys({ ...ownPhrases, ...shared }).map((kind): [string, string[]] => [
      kind,
      [...(ownPhrases[kind as TalkKind] ?? []), ...(shared[kind as TalkKind] ?? [])],
    ]),
  );
  return {
    ...compilePhrases(phrases, { words: own?.words ?? {}, isUnspaced, asides: ASIDES, isBlocked }),
    isUnspaced,
    isFiller: (term) => empty.has(term) && !isTurn(term),
    isTurn,
    isProblem,
  };
}

/** Folds the single words of a list. */
function foldAll(terms: Iterable<string>): Set<string> {
  return new Set(
    [...terms].flatMap((term) => {
      const tokens = talkTokens(term);
      return tokens.length === 1 ? tokens.map((token) => token.term) : [];
    }),
  );
}

/** Matches of a language's phrases in a message. */
interface Reading {
  kinds: Set<string>;
  /** True if an empty word is first. */
  beginsEmpty: boolean;
  uncovered: TalkToken[];
  /** Number of empty words between the phrases. */
  emptyWords: number;
  isTurned: boolean;
}

function read(tokens: readonly TalkToken[], { match, isFiller, isTurn }: Lexicon): Reading {
  const reading: Reading = { kinds: new Set(), beginsEmpty: false, uncovered: [], emptyWords: 0, isTurned: false };
  for (let position = 0; position < tokens.length;) {
    const token = tokens[position] as TalkToken;
    const found = match(tokens, position);
    const end = found.size === 0 ? position : Math.max(...found.values());
    if (end > position) {
      const longest = [...found.keys()].filter((kind) => found.get(kind) === end);
      for (const kind of longest) reading.kinds.add(kind);
      if (position === 0) reading.beginsEmpty = longest.every((kind) => kind === "filler");
      // Each phrase has one reading, and is a turn only if it can be nothing else.
      if (longest.every((kind) => kind === "turn" || kind === "filler") && longest.includes("turn"))
        reading.isTurned = true;
      position = end;
    } else {
      if (isTurn(token.term)) reading.isTurned = true;
      if (isFiller(token.term)) reading.emptyWords += 1;
      else reading.uncovered.push(token);
      position += 1;
    }
  }
  return reading;
}

/** Returns the kind of a message in a language, if it is small talk; `isWhole` if it has no other content. */
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
    // Complaints and solved problems may have any words, thanks a few.
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

/**
 * Returns whether a word may be a name. English function words are excluded, since messages in any language may contain
 * them with a capital.
 */
function mayBeName({ term, isCapitalized }: TalkToken): boolean {
  const { isTurn, isFiller } = lexiconOf(DEFAULT_LANGUAGE);
  return isCapitalized && !isTurn(term) && !isFiller(term);
}

const isPleased = (kind: TalkKind) => kind === "praise" || kind === "solved";

/** Matches a mail address, a long number or a telephone number; phrases contain it as `00000`. */
const DATA = /[\w.+-]+@[\w-]+\.[\w.-]+|#?\b[A-Z]{0,4}-?\d[\d\s/-]{3,}\d\b|\+\d[\d\s/()-]{5,}\d/gu;

/** Finds the languages of a script in which a word of a text may begin a phrase, by its words. */
type LanguageIndex = (tokens: readonly TalkToken[]) => readonly string[];

const indexes = new Map<RegExp, LanguageIndex>();

function indexLanguages(languages: readonly string[]): LanguageIndex {
  const byWord = new Map<string, string[]>();
  const byPrefix = new Map<string, string[]>();
  const always: string[] = [];
  for (const language of languages) {
    const { beginnings, isUnspaced } = lexiconOf(language);
    // The words of a script without spaces are its characters.
    if (beginnings.isAny || isUnspaced) always.push(language);
    for (const word of beginnings.words) byWord.set(word, [...(byWord.get(word) ?? []), language]);
    for (const prefix of beginnings.prefixes) byPrefix.set(prefix, [...(byPrefix.get(prefix) ?? []), language]);
  }
  const prefixesOf = findPrefixes(byPrefix.keys());
  return (tokens) => {
    const found = [...always];
    for (const { term } of tokens) {
      found.push(...(byWord.get(term) ?? []));
      for (const prefix of prefixesOf(term)) found.push(...(byPrefix.get(prefix) ?? []));
    }
    return found;
  };
}

/** Returns the languages in which a text may be small talk, in their order. */
function languagesOf(text: string, tokens: readonly TalkToken[], chatLanguage: string | null): string[] {
  const found = new Set<string | null>([chatLanguage]);
  for (const [script, languages] of languagesByScript()) {
    if (!script.test(text)) continue;
    const index = indexes.get(script) ?? indexLanguages(languages);
    indexes.set(script, index);
    for (const language of index(tokens)) found.add(language);
  }
  return [...talkByLanguage().keys()].filter((language) => language !== SHARED && found.has(language));
}

/** Small talk of a message. */
interface TalkReading {
  /** True when it states nothing. */
  isBare?: boolean;
  kind: TalkKind | "person";
  language: string | null;
}

/** Returns the small talk of a message, or null. `chatLanguage` decides between languages with the same phrase. */
export function findTalk(text: string, chatLanguage: string | null): TalkReading | null {
  if (text.length > MAX_COMPLAINT_CHARS) return null;
  const tokens = talkTokens(text.replace(DATA, " 00000 "));
  if (tokens.length === 0) return null;
  const marks = { isMarked: /[?？؟]/u.test(text), chars: text.trim().length };
  const shared = decideIn(tokens, { ...marks, language: SHARED });
  if (shared?.isWhole === true) {
    return { ...shared, language: talkByLanguage().has(chatLanguage ?? "") ? chatLanguage : DEFAULT_LANGUAGE };
  }
  const readings = shared === null ? [] : [{ ...shared, language: SHARED }];
  for (const language of languagesOf(text, tokens, chatLanguage)) {
    const decided = decideIn(tokens, { ...marks, language });
    if (decided !== null) readings.push({ ...decided, language });
  }
  const whole = readings.filter(({ isWhole }) => isWhole);
  if (whole.length > 0) return chooseReading(whole, text, chatLanguage);
  // Words outside the phrases identify the language.
  const chosen = chooseReading(readings, text, chatLanguage);
  return chosen !== null && isIn(text, chosen.language, chatLanguage) ? chosen : null;
}

function chooseReading<One extends TalkReading & { language: string }>(
  readings: readonly One[],
  text: string,
  chatLanguage: string | null,
): One | null {
  const detected = readings.length > 1 ? detectLanguage(text).language : null;
  return (
    readings.find(({ language }) => language === chatLanguage) ??
    readings.find(({ language }) => language === detected) ??
    readings[0] ??
    null
  );
}

function isIn(text: string, language: string, chatLanguage: string | null): boolean {
  return language === chatLanguage || detectLanguage(text).language === language;
}

/** Returns whether a text has a question mark or question word, and whether it reports a problem or has digits. */
export function readManner(text: string, chatLanguage: string | null): { asks: boolean; hasProblem: boolean } {
  const { language } = detectLanguage(text, chatLanguage ?? undefined);
  const lexicon = lexiconOf(language);
  const words = talkTokens(text);
  const tokens = lexicon.isUnspaced ? talkCharacters(words) : words;
  const { kinds, isTurned } = read(tokens, lexicon);
  return {
    asks: isTurned || /[?？؟]/u.test(text),
    hasProblem: kinds.has("negation") || tokens.some(({ term }) => lexicon.isProblem(term)),
  };
}

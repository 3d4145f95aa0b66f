import type { NoteWord } from "./note-words.ts";
import { repairWords } from "./note-words.ts";

/** Kind of words that announce a correction. */
type CueKind = "pause" | "no" | "single" | "phrase";

/** Words that announce a correction: from `from` on, excluding `to`. */
export interface RepairCue {
  from: number;
  to: number;
  kind: CueKind;
}

type Phrases = ReadonlyMap<string, readonly (readonly string[])[]>;

/** Groups phrases by their first word, longest first. */
function phrasesOf(list: readonly string[]): Phrases {
  const byFirst = new Map<string, string[][]>();
  for (const phrase of list.map((one) => one.split(" "))) {
    const [first = ""] = phrase;
    byFirst.set(
      first,
      [...(byFirst.get(first) ?? []), phrase].toSorted((a, b) => b.length - a.length),
    );
  }
  return byFirst;
}

interface CuePhrases {
  pauses: ReadonlySet<string>;
  edits: Phrases;
  links: Phrases;
  tails: Phrases;
  fillers: Phrases;
  /** The word for both "no" and "not"; empty if there are two. */
  not: string;
}

const cuePhrases = new Map<string, CuePhrases>();

/** Returns the words that announce corrections in a language (ISO 639-1); none if it is not supported. */
function cuePhrasesOf(language: string): CuePhrases {
  const known = cuePhrases.get(language);
  if (known !== undefined) return known;
  const { pauses = [], edits = [], links = [], tails = [], fillers = [], not = "" } = repairWords(language);
  const phrases = {
    pauses: new Set(pauses),
    edits: phrasesOf([...edits, ...pauses]),
    links: phrasesOf(links),
    tails: phrasesOf(tails),
    fillers: phrasesOf(fillers),
    not,
  };
  cuePhrases.set(language, phrases);
  return phrases;
}

/** Returns the number of words from `from` on that match one of the phrases. */
function matchLength(words: readonly NoteWord[], from: number, phrases: Phrases): number {
  const candidates = phrases.get(words[from]?.word ?? "") ?? [];
  return candidates.find((phrase) => phrase.every((word, index) => words[from + index]?.word === word))?.length ?? 0;
}

/** "No" followed by one of these declines something. */
const THANKS = new Set("thanks thank danke merci gracias grazie obrigado obrigada bedankt".split(" "));

/** Maximum number of connecting words before a phrase. */
const MAX_LINKS = 3;

/** Returns the filler sounds of a language, which can be removed anywhere. */
export function pausesOf(language: string): ReadonlySet<string> {
  return cuePhrasesOf(language).pauses;
}

/** Finds filler phrases, in order: those set off by punctuation on both sides. Elsewhere they have a meaning. */
export function findFillers(words: readonly NoteWord[], language: string): Pick<NoteWord, "start" | "end">[] {
  const fillers = cuePhrasesOf(language).fillers;
  if (fillers === undefined) return [];
  return words.flatMap((first, from) => {
    if (from > 0 && !first.isSetOff) return [];
    const to = from + matchLength(words, from, fillers);
    const last = words[to - 1];
    return last !== undefined && to > from && words[to]?.isSetOff === true
      ? [{ start: first.start, end: last.end }]
      : [];
  });
}

/** Finds possible corrections, in reading order. Many of them are none: see `repairSentence`. */
export function findRepairCues(words: readonly NoteWord[], language: string): RepairCue[] {
  const phrases = cuePhrasesOf(language);
  if (phrases === undefined) return [];
  const cues: RepairCue[] = [];
  for (let from = 0; from < words.length;) {
    const to = endOfCue(words, from, phrases);
    if (to === from || isNegation(words, from, to, phrases)) {
      from += 1;
      continue;
    }
    cues.push({ from, to, kind: kindOf(words.slice(from, to), phrases.pauses) });
    from = to;
  }
  return cues;
}

function endOfCue(words: readonly NoteWord[], from: number, { edits, links, tails }: CuePhrases): number {
  let to = from;
  for (;;) {
    let position = to;
    for (let count = 0; count < MAX_LINKS; count += 1) {
      if (matchLength(words, position, edits) > 0) break;
      position += matchLength(words, position, links);
    }
    const length = matchLength(words, position, edits);
    if (length === 0) break;
    // A phrase divided by a pause must be set off as a whole: "no, wait, on Monday", but not "they wait, no one comes".
    if (to > from && hasPause(words, to, position + length) && !isSetOffAsOne(words, from, position + length)) break;
    to = position + length;
  }
  if (to > from && THANKS.has(words[to]?.word ?? "")) return from;
  if (to > from) to += matchLength(words, to, tails);
  return to;
}

const hasPause = (words: readonly NoteWord[], from: number, to: number) =>
  words.slice(from, to).some(({ isSetOff }) => isSetOff);

const isSetOffAsOne = (words: readonly NoteWord[], from: number, to: number) =>
  (from === 0 || words[from]?.isSetOff === true) && (to >= words.length || words[to]?.isSetOff === true);

/** Phrases that always withdraw something. */
const CLEAR: Readonly<Record<string, readonly string[]>> = {
  en: ["no sorry", "no i mean", "no i meant", "scratch that", "scratch this", "i meant to say", "i mean to say"],
  de: ["nein sorry", "nein moment", "nein warte", "nein entschuldigung", "nein quatsch", "streich das"],
  fr: ["non pardon", "non désolé", "non attends"],
  it: ["volevo dire", "no scusa", "no scusi", "no aspetta"],
  nl: ["nee sorry", "nee wacht"],
  ru: ["нет извините", "нет простите", "нет погоди"],
  uk: ["ні вибачте", "ні перепрошую", "ні чекай"],
};

/** Returns whether words always announce a correction, even without punctuation around them. */
export function isClearCue(said: readonly NoteWord[], language: string): boolean {
  const text = ` ${said.map(({ word }) => word).join(" ")} `;
  return (CLEAR[language] ?? []).some((phrase) => text.includes(` ${phrase} `));
}

/**
 * Returns whether the words are a negation. "Il lunedì, no, il martedì" is a correction. "El lunes, no el martes" is a
 * negation, because Spanish has one word for "no" and "not".
 */
function isNegation(words: readonly NoteWord[], from: number, to: number, { not }: CuePhrases): boolean {
  return not !== "" && to === from + 1 && words[from]?.word === not && words[to]?.isSetOff !== true;
}

function kindOf(said: readonly NoteWord[], pauses: ReadonlySet<string>): CueKind {
  const words = new Set(said.map(({ word }) => word));
  if ([...words].every((word) => pauses.has(word))) return "pause";
  if (words.size > 1) return "phrase";
  return words.has("no") ? "no" : "single";
}

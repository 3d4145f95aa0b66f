import { readFileSync } from "node:fs";
import { splitBlocks } from "./split-blocks.ts";
import type { Block, BlockKind } from "./split-blocks.ts";

const setOf = (lines: readonly string[]): ReadonlySet<string> => new Set(lines.flatMap((line) => line.split(" ")));

/**
 * Abbreviations of the languages that customers of European services write, in lower case and without their full stop: a
 * choice of common ones, not a dictionary. All languages share them, so none is also a word that ends sentences somewhere
 * (`me`, `ir`, `max`).
 */
const abbreviations = JSON.parse(
  readFileSync(new URL("../data/abbreviations.json", import.meta.url), "utf8"),
) as Readonly<
  Record<"continuing" | "numbered" | "ambiguous" | "trailing" | "sentenceStarters" | "germanOrdinalNouns", string[]>
>;

/** A sentence always continues after these. */
const CONTINUING_ABBREVIATIONS = setOf(abbreviations.continuing);

/** Abbreviations before a number; before anything else the word is an ordinary one: `No. I don't.` */
const NUMBERED_ABBREVIATIONS = setOf(abbreviations.numbered);

/** Abbreviations that often are the last word of a sentence: it ends only before a common first word. */
const AMBIGUOUS_ABBREVIATIONS = setOf(abbreviations.ambiguous);

/** A sentence continues in lower case after these, even in a text without capitals. */
const TRAILING_ABBREVIATIONS = setOf(abbreviations.trailing);

/** Words that begin many sentences and few names. In lower case. */
const SENTENCE_STARTERS = setOf(abbreviations.sentenceStarters);

/** Capitalized words that follow a German ordinal: `am 3. Oktober`. */
const GERMAN_ORDINAL_NOUNS = setOf(abbreviations.germanOrdinalNouns);

/** A sentence of a text, or a block in its place: a heading, a code fence, a row of a table. */
export type Sentence = {
  /** Exactly `text.slice(start, end)` of the whole text: Markdown and line breaks within are kept. */
  readonly text: string;
  /** Offset of its first UTF-16 unit. */
  readonly start: number;
  /** Offset behind its last UTF-16 unit. */
  readonly end: number;
  /** Its kind, so that an answer need not quote a heading or code. */
  readonly kind: BlockKind;
};

/** One or more signs that end sentences in any script, and the ellipsis. */
const TERMINATORS = /[\p{Sentence_Terminal}…]+|[;\u037E]/gu;

/**
 * What may stand between the sign and the end: closing quotes (in German also “ and «; '' also behind a space, as in
 * text that was tokenised once) and brackets, Markdown emphasis, the number of a note.
 */
const CLOSERS = /(?:["'”“’‘»«›‹)\]}*_~`」』）】》〉〕］｝]|\[\d{1,4}\]| ''(?!\S))*/uy;

/** Emoji after the sign belong to the sentence. */
const EMOJI = /(?:[^\S\n\r]*(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u200D|\uFE0F))*/uy;

/**
 * Opening quotes, brackets, dashes and emphasis before the first word of a sentence, the dot of `.NET`, and a Markdown
 * image. No more of them than any sentence has: behind each sign of `![![![…` they would go on to the end of the text.
 */
const OPENERS = /(?:["'“‘„«‹([{*_~`¿¡—–\-「『（【《〈\s]|\.(?=[\p{L}\p{N}])|!(?=\[)){0,200}/uy;

const WORD = /[\p{L}\p{M}\p{N}]{1,24}/uy;

/** Maximum length of the word before a full stop: longer ones are not abbreviations. */
const LONGEST_ABBREVIATION_CHARS = 12;

/**
 * Splits a text of any language into sentences, in order and without overlap; only white space lies between them.
 * Ends are found by the signs that Unicode calls sentence terminals. A full stop after an abbreviation, an initial, a
 * number in an enumeration or before lower case ends none, unless the text does not capitalise its sentences at all.
 * Markdown counts: headings, list items, table rows and paragraphs end a sentence; a code fence stays whole.
 * Takes time in proportion to the text, whatever it holds.
 */
export function splitSentences(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  for (const block of splitBlocks(text)) {
    if (block.kind === "prose") addProse(sentences, text, block);
    else addTrimmed(sentences, text, block);
  }
  return sentences;
}

function addProse(sentences: Sentence[], text: string, block: Block): void {
  const prose = text.slice(block.start, block.end);
  const isCareless = beginsInLowerCase(prose);
  let start = 0;
  TERMINATORS.lastIndex = contentStart(prose);
  for (let match = TERMINATORS.exec(prose); match !== null; match = TERMINATORS.exec(prose)) {
    const { index, 0: sign } = match;
    const end = matchEnd(EMOJI, prose, matchEnd(CLOSERS, prose, index + sign.length));
    TERMINATORS.lastIndex = end;
    if (!endsSentence(prose, { start, index, sign, end, isCareless })) continue;
    addTrimmed(sentences, text, { kind: "prose", start: block.start + start, end: block.start + end });
    start = end;
  }
  addTrimmed(sentences, text, { kind: "prose", start: block.start + start, end: block.end });
}

type Candidate = {
  /** Where the sentence that may end begins. */
  readonly start: number;
  /** Offset of the sign that may end it. */
  readonly index: number;
  readonly sign: string;
  /** Behind the sign, its closing quotes and emoji. */
  readonly end: number;
  /** The text does not capitalize its sentences. */
  readonly isCareless: boolean;
};

function endsSentence(prose: string, candidate: Candidate): boolean {
  const { index, sign, end, isCareless } = candidate;
  if (isSemicolon(sign) && !/\p{Script=Greek}/u.test(prose.charAt(index - 1))) return false;
  const nextStart = matchEnd(OPENERS, prose, end);
  const next = codePointAt(prose, nextStart);
  if (next === "") return true;
  // Spaced dots and marks (`. . .`, `? !`) are one sign; a comma means that the sentence continues.
  if (/[\p{Sentence_Terminal}…,;:)\]}]/u.test(next)) return false;
  if (!/[.!?…;\u037E]/.test(sign)) return true;
  if (!/\s/.test(prose.charAt(end)) && !isUnspaced(next)) return false;
  const isLower = /\p{Ll}/u.test(next);
  if (isLower && (!isCareless || /^(?:\.{2,}|…)$/.test(sign))) return false;
  return sign !== "." || !isAbbreviated(prose, candidate, nextStart, isLower);
}

/** Returns whether the full stop belongs to the word or number before it. */
function isAbbreviated(prose: string, { start, index }: Candidate, nextStart: number, isNextLower: boolean): boolean {
  const before = prose.slice(Math.max(start, index - LONGEST_ABBREVIATION_CHARS - 1), index);
  const word = /[\p{L}\p{M}\p{N}.º°№-]+$/u.exec(before)?.[0] ?? "";
  const next = wordAt(prose, nextStart);
  if (/^\d+$/.test(word)) {
    return GERMAN_ORDINAL_NOUNS.has(next.toLowerCase()) || isEnumeration(prose, start, index - word.length);
  }
  // `z. B.` and `p. ex.` are listed without their spaces.
  const spaced = /(?:\p{L}\.\s)+\p{L}+$/u.exec(before)?.[0].replace(/\s/g, "") ?? word;
  // A single capital is an initial and not the abbreviation of the same letter.
  const listed = word.length === 1 ? word : word.toLowerCase();
  const isIn = (list: ReadonlySet<string>): boolean => list.has(listed) || list.has(spaced.toLowerCase());
  if (isIn(CONTINUING_ABBREVIATIONS)) return true;
  if (isIn(NUMBERED_ABBREVIATIONS) && /^\p{N}/u.test(next)) return true;
  if (isIn(TRAILING_ABBREVIATIONS)) return isNextLower;
  const isInitial = word !== "I" && /^(?:[\p{Lu}\p{Ll}]\p{M}*\.)*[\p{Lu}\p{Ll}]\p{M}*$/u.test(word);
  if (isInitial && /^\p{Ll}/u.test(word)) return /^\p{L}$/u.test(next);
  return (isInitial || isIn(AMBIGUOUS_ABBREVIATIONS)) && !SENTENCE_STARTERS.has(next.toLowerCase());
}

/** `Steps: 1. Open it. 2. Close it.`: a number of at most two digits at the beginning or behind a colon or comma. */
function isEnumeration(prose: string, start: number, numberStart: number): boolean {
  const before = prose.slice(Math.max(start, numberStart - 8), numberStart).trimEnd();
  return before === "" || /[:;,(]$/.test(before);
}

/** Returns the offset after the marker of a list item, whose full stop ends nothing. */
function contentStart(prose: string): number {
  return /^[\s>]*(?:\d{1,9}[.)]|\p{L}[.)])[ \t]+(?:\[[ xX]\] )?/u.exec(prose)?.[0].length ?? 0;
}

function beginsInLowerCase(prose: string): boolean {
  return /^[^\p{L}\p{N}]{0,12}\p{Ll}/u.test(prose);
}

function isSemicolon(sign: string): boolean {
  return sign === ";" || sign === "\u037E";
}

/** Letters of scripts that put no space behind a sign. */
function isUnspaced(character: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(character);
}

function wordAt(prose: string, start: number): string {
  return prose.slice(start, matchEnd(WORD, prose, start));
}

function codePointAt(prose: string, index: number): string {
  const codePoint = prose.codePointAt(index);
  return codePoint === undefined ? "" : String.fromCodePoint(codePoint);
}

/** Returns the offset after a sticky pattern's match; the offset itself if there is none. */
function matchEnd(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

function addTrimmed(sentences: Sentence[], text: string, { kind, start, end }: Block): void {
  const part = text.slice(start, end);
  const content = part.trim();
  if (content === "") return;
  const contentStart = start + part.indexOf(content);
  sentences.push({ text: content, start: contentStart, end: contentStart + content.length, kind });
}

const graphemeSegmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Number of characters after the limit that are read to check whether a sentence ends there. */
const LOOKAHEAD_CHARS = 200;

/**
 * The beginning of a text with at most `maxChars` UTF-16 units: up to the last sentence that ends there if that keeps
 * at least half of them, else up to the last whole word under the same condition, else up to the last whole
 * grapheme, so that no surrogate pair, accent or emoji is cut. White space at the end is dropped and no ellipsis is
 * added. A text that fits is returned as it is. A single grapheme longer than `maxChars` is cut between its code
 * points, so that a caller who continues with the rest always advances.
 */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const limit = graphemeLimit(text, Math.max(0, Math.floor(maxChars)));
  const least = Math.ceil(limit / 2);
  const end = [sentenceEnd(text, limit), wordEnd(text, limit)].find((candidate) => candidate >= least) ?? limit;
  return text.slice(0, end).trimEnd();
}

/** Returns the last grapheme boundary up to the limit; a code point boundary if the first grapheme is longer. */
function graphemeLimit(text: string, maxChars: number): number {
  // Only the code point behind the limit matters of the rest, and the segmenter is slow on long texts.
  const boundary = graphemeSegmenter.segment(text.slice(0, maxChars + 2)).containing(maxChars)?.index ?? maxChars;
  if (boundary > 0 || maxChars === 0) return boundary;
  const splitsPair = (text.codePointAt(maxChars - 1) ?? 0) > 0xff_ff;
  return splitsPair ? maxChars - 1 : maxChars;
}

function sentenceEnd(text: string, limit: number): number {
  // Only what ends before the end of what was read is known to be a sentence.
  const sentences = splitSentences(text.slice(0, limit + LOOKAHEAD_CHARS));
  return sentences.findLast(({ end }) => end <= limit)?.end ?? 0;
}

function wordEnd(text: string, limit: number): number {
  let end = limit;
  while (end > 0 && !/\s/.test(text.charAt(end))) end -= 1;
  return end;
}

import { stopWords } from "@svc/text";
import { capitalOf, noteWords, trimEnd } from "./note-words.ts";
import { repairSentence } from "./repair-sentence.ts";
import type { RepairBudget } from "./repair-sentence.ts";
import type { NoteWord } from "./note-words.ts";
import { findFillers, pausesOf } from "./repair-cues.ts";

/** Words that may correctly be repeated. */
const SAID_TWICE = new Set(
  "that had very so no yes really bye ha is was die der das sie dass nous vous muy sí si molto sempre heel".split(" "),
);

/** Of these, a slip at the beginning of a sentence: "the man that that concerns", but not "that that man". */
const SLIPS_AT_START = new Set("that der die das dass".split(" "));

/** Maximum length of a repetition that is one slip, in words. */
const LONGEST_REPEAT = 4;

/**
 * Cleans a part of dictated notes: removes withdrawn text, filler sounds and repeated words, and capitalizes the first
 * letter. Returns it unchanged if nothing would be left.
 */
export function cleanPart(text: string, language: string, budget: RepairBudget): string {
  const repaired = repairSentence(text.replaceAll(TRANSCRIPT_MARKS, " "), language, budget);
  const cleaned = tidy(withoutRepeats(withoutPauses(repaired, language), language));
  return cleaned === ""
    ? ""
    : cleaned.replace(
        /^([^\p{L}\p{N}]*)(\p{L})/u,
        (_, before: string, letter: string) => before + capitalOf(letter, language),
      );
}

function withoutPauses(text: string, language: string): string {
  const pauses = pausesOf(language);
  const words = noteWords(text, language);
  const spans = [...words.filter(({ word }) => pauses.has(word)), ...findFillers(words, language)];
  return without(
    text,
    spans.toSorted((a, b) => a.start - b.start),
  );
}

/** Removes spans with the comma after each, and the one before it if it was between two. */
function without(text: string, spans: readonly Pick<NoteWord, "start" | "end">[]): string {
  let kept = "";
  let from = 0;
  for (const { start, end } of spans) {
    const commas = COMMAS.exec(text.slice(end, end + MAX_COMMAS))?.[0].length ?? 0;
    const before = text.slice(from, start);
    kept += commas === 0 ? before : before.replace(/[,，、،]\s*$/, " ");
    from = end + commas;
  }
  return kept + text.slice(from);
}

const COMMAS = /^[,…，、،]+/;
const MAX_COMMAS = 10;

/**
 * Removes the first occurrence of a phrase that is repeated immediately. A single word is removed only if it is not a
 * topic word: "test test" may be intended.
 */
function withoutRepeats(text: string, language: string): string {
  const words = noteWords(text, language);
  const common = stopWords(language);
  const dropped: Pick<NoteWord, "start" | "end">[] = [];
  for (let position = 0; position < words.length; position += 1) {
    for (let length = LONGEST_REPEAT; length > 0; length -= 1) {
      if (!isRepeat(words, position, length, common)) continue;
      const [first, last] = [words[position], words[position + length]];
      if (first !== undefined && last !== undefined) dropped.push({ start: first.start, end: last.start });
      position += length - 1;
      break;
    }
  }
  return without(text, dropped);
}

function isRepeat(words: readonly NoteWord[], position: number, length: number, common: ReadonlySet<string>): boolean {
  const [first] = words.slice(position, position + 1);
  if (first === undefined) return false;
  const isMeant = SAID_TWICE.has(first.word) && !(position === 0 && SLIPS_AT_START.has(first.word));
  if (length === 1 && (!common.has(first.word) || isMeant)) return false;
  for (let index = 0; index < length; index += 1) {
    const [one, other] = [words[position + index], words[position + length + index]];
    if (one === undefined || other === undefined || one.word !== other.word) return false;
    // Numbers are repeated intentionally, as in "40 40".
    if (one.kind === "number" || other.isSetOff) return false;
  }
  return true;
}

/** Matches annotations of transcription programs: `{vocalsound}`, `[laughter]`. */
const TRANSCRIPT_MARKS =
  /\{[a-z ]{1,40}\}|\[(?:laughter|laughs|inaudible|noise|silence|pause|music|applause|crosstalk)\]/giu;

function tidy(text: string): string {
  const begun = text
    .replaceAll(/[ \t]+/g, " ")
    .replaceAll(/ +([,;:.!?])/g, "$1")
    .replaceAll(/,(?:\s*,)+/g, ",")
    .replace(/^[\s,;:]+/, "");
  return trimEnd(begun, /[\s,;]/).replace(/,([.!?])$/, "$1");
}

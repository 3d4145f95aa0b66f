import { createHash } from "node:crypto";
import { stopWords, tokenize } from "@svc/text";
import { severityOf, tellsIssue } from "./issue-words.ts";
import type { IssueSeverity } from "./issue-words.ts";
import type { NotePart } from "./note-parts.ts";

/** A place in the notes: UTF-16 offsets. */
export interface NoteQuote {
  start: number;
  end: number;
}

/** Something that notes tell of, which somebody may make a ticket of. */
export interface NoteIssue {
  /** The same notes give the same ids. */
  clientIssueId: string;
  /** One line. */
  title: string;
  description: string;
  severity: IssueSeverity;
  /** Where the notes say so, in reading order: at least one place. */
  quotes: NoteQuote[];
}

/** A part of the notes, with its text as it was meant. */
export interface CleanPart extends NotePart {
  text: string;
  /** ISO 639-1. */
  language: string;
}

/** Bounds of what is found; characters are UTF-16 units. */
export const ISSUE_LIMITS = { issues: 50, titleMaxChars: 120, descriptionMaxChars: 4_000 } as const;

/** Sentences that go on about the same: so many at most. */
const LONGEST_ISSUE = 5;

/**
 * What goes on about what was just said, in several languages. Words that may also belong to a noun ("this invoice", "das
 * Internet") do so only before a verb.
 */
const GOES_ON =
  /^(?:and |und |et |y |e |en )?(?:(?:it|they|he|she|because|which|since|even|only|still|again|es|sie|er|weil|elle|ça|cela|parce|eso|porque|perché|ciò|isso|omdat|ponieważ|bo|это|оно|он|она|они|потому|це|воно|він|вона|вони|тому|çünkü)(?!\p{L})|(?:this|that|these|those|das|dies|il|esto|questo|het|dat|dit)\s+(?:is|was|are|were|has|had|happens|happened|means|does|did|ist|war|sind|hat|passiert|est|était|fait|es|está|pasa|è|era|ha|heeft|gebeurt)(?!\p{L}))/iu;

/**
 * The issues that notes tell of, without a model: each sentence or list item with words of trouble or of something to do,
 * and the sentences behind it that go on about it. Where nothing has such words, the first sentence that says anything.
 */
export function findIssues(notes: string, parts: readonly CleanPart[]): NoteIssue[] {
  const groups: CleanPart[][] = [];
  let open: CleanPart[] | null = null;
  for (const part of parts) {
    if (part.kind === "heading" || part.text === "" || DONE.test(part.mark)) {
      open = null;
      continue;
    }
    if (open !== null && open.length < LONGEST_ISSUE && goesOn(open, part)) {
      open.push(part);
    } else if (tells(part)) {
      open = [part];
      groups.push(open);
    } else {
      open = null;
    }
  }
  const first = parts.find(
    ({ kind, text, mark }) => kind !== "heading" && !DONE.test(mark) && tokenize(text).length >= 3,
  );
  const found = groups.length > 0 ? groups : first === undefined ? [] : [[first]];
  const idOf = createIssueIds(notes, parts);
  return found.slice(0, ISSUE_LIMITS.issues).map((group) => {
    const text = group.map((part) => part.text).join(" ");
    const quotes = group.map(({ start, end }) => ({ start, end }));
    return {
      clientIssueId: idOf(quotes),
      title: titleOf(group[0]?.text ?? text),
      description: cut(text, ISSUE_LIMITS.descriptionMaxChars),
      severity: severityOf(text),
      quotes,
    };
  });
}

/** Marks of a list: of what is done, and of what is to be done. */
const DONE = /\[[xX]\]/;
const TO_DO = /\[ ?\]/;

const tells = ({ mark, text, language }: CleanPart) => TO_DO.test(mark) || tellsIssue(text, language);

/** Whether a part goes on about the same as those before it, in the same paragraph. */
function goesOn(open: readonly CleanPart[], part: CleanPart): boolean {
  if (part.kind === "item" || part.begins === "paragraph") return false;
  if (GOES_ON.test(part.text)) return true;
  if (tellsIssue(part.text, part.language)) return false;
  const common = stopWords(part.language);
  const topicsOf = (text: string) => tokenize(text).flatMap(({ term }) => (common.has(term) ? [] : [term]));
  const known = new Set(open.flatMap(({ text }) => topicsOf(text)));
  return topicsOf(part.text).some((term) => known.has(term));
}

/** One line without its mark at the end, cut at a word. */
export function titleOf(text: string): string {
  return cut(text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim(), ISSUE_LIMITS.titleMaxChars).replace(/[.,;:!]+$/, "");
}

/** The beginning of a text, cut at a word where there is one. */
export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = text
    .slice(0, maxChars - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, "");
  const atWord = head.replace(/\s+\S*$/u, "");
  return `${atWord.length > maxChars / 2 ? atWord : head}…`;
}

/**
 * Makes ids: of the words of the part in which an issue's first quote begins, so that they do not depend on how an issue
 * is worded; the second one of the same words gets another.
 */
export function createIssueIds(notes: string, parts: readonly NotePart[]): (quotes: readonly NoteQuote[]) => string {
  const counts = new Map<string, number>();
  return ([first]) => {
    const start = first?.start ?? 0;
    const part = parts.findLast((one) => one.start <= start);
    const said = part === undefined ? notes : notes.slice(part.start, part.end);
    const words = tokenize(said)
      .map(({ term }) => term)
      .join(" ");
    const number = (counts.get(words) ?? 0) + 1;
    counts.set(words, number);
    const hash = createHash("sha256")
      .update(JSON.stringify([words, number]))
      .digest("hex");
    return `note-${hash.slice(0, 24)}`;
  };
}

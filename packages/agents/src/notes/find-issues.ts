import { createHash } from "node:crypto";
import { stopWords, tokenize } from "@svc/text";
import { capitalOf } from "./capital-of.ts";
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
 * and the sentences behind it that go on about it. Where nothing has such words, the first sentence that says anything, or
 * else the first of a single word or two. `alsoLanguages` (ISO 639-1) are those that the parts may be in just as well.
 */
export function findIssues(
  notes: string,
  parts: readonly CleanPart[],
  alsoLanguages: readonly string[] = [],
): NoteIssue[] {
  const groups: CleanPart[][] = [];
  let open: CleanPart[] | null = null;
  for (const part of parts) {
    if (part.kind === "heading" || part.text === "" || DONE.test(part.mark)) {
      open = null;
      continue;
    }
    if (open !== null && open.length < LONGEST_ISSUE && goesOn(open, part, alsoLanguages)) {
      open.push(part);
    } else if (tells(part, alsoLanguages)) {
      open = [part];
      groups.push(open);
    } else {
      open = null;
    }
  }
  const undone = parts.filter(({ kind, text, mark }) => kind !== "heading" && !DONE.test(mark) && text !== "");
  const lengthOf = ({ text }: CleanPart) => tokenize(text).length;
  const first = undone.find((part) => lengthOf(part) >= SAYS_ENOUGH) ?? undone.find((part) => lengthOf(part) > 0);
  const found = groups.length > 0 ? groups : first === undefined ? [] : [[first]];
  const idOf = createIssueIds(notes, parts);
  return found.slice(0, ISSUE_LIMITS.issues).map((group) => {
    const text = group.map((part) => part.text).join(" ");
    const quotes = group.map(({ start, end }) => ({ start, end }));
    return {
      clientIssueId: idOf(quotes),
      title: titleOf(withoutLead(group[0]?.text ?? text, group[0]?.language ?? "en")),
      description: cut(text, ISSUE_LIMITS.descriptionMaxChars),
      severity: severityOf(text),
      quotes,
    };
  });
}

/** So many words say something. */
const SAYS_ENOUGH = 3;

/** Marks of a list: of what is done, and of what is to be done. */
const DONE = /\[[xX]\]/;
const TO_DO = /\[ ?\]/;

const tells = ({ mark, text, language }: CleanPart, also: readonly string[]) =>
  TO_DO.test(mark) || tellsIssue(text, language, ...also);

/** Whether a part goes on about the same as those before it, in the same paragraph. */
function goesOn(open: readonly CleanPart[], part: CleanPart, also: readonly string[]): boolean {
  if (part.kind === "item" || part.begins === "paragraph") return false;
  if (GOES_ON.test(part.text)) return true;
  if (tellsIssue(part.text, part.language, ...also)) return false;
  const common = stopWords(part.language);
  const topicsOf = (text: string) => tokenize(text).flatMap(({ term }) => (common.has(term) ? [] : [term]));
  const known = new Set(open.flatMap(({ text }) => topicsOf(text)));
  return topicsOf(part.text).some((term) => known.has(term));
}

/** What speech begins a sentence with to go on from the one before, by language (ISO 639-1). */
const LEADS: Readonly<Record<string, string>> = {
  en: "so and also but",
  de: "also und auch aber",
  fr: "et aussi mais alors donc",
  es: "y también pero",
  it: "e anche ma allora",
  pt: "e também mas então",
  nl: "en ook maar dus",
  pl: "i a też ale więc",
  ru: "и а также но",
  uk: "і й та а також але",
  tr: "ve ayrıca ama",
};

/** A sentence without the words that join it to the one before: "So, and the lamp is broken" is "The lamp is broken". */
function withoutLead(text: string, language: string): string {
  const leads = LEADS[language]?.split(" ") ?? [];
  let rest = text;
  for (;;) {
    const [whole = "", lead = ""] = /^(\p{L}+)(?:,\s*|\s+)(?=\S+\s+\S)/u.exec(rest) ?? [];
    // "So far" and "so slow", "also known as": what is one with the next word stays.
    if (!leads.includes(lead.toLowerCase()) || KEPT_LEAD.test(rest)) break;
    rest = rest.slice(whole.length);
  }
  return rest === text ? text : rest.replace(/^\p{Ll}/u, (letter) => capitalOf(letter, language));
}

const KEPT_LEAD = /^(?:so (?:far|many|much|few|little|long|that|called|slow|bad)|but for|as )/iu;

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

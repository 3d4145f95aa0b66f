import { diffWordsWithSpace } from "diff";

/** A piece of a text that goes, comes, or stays. */
export interface DiffPart {
  value: string;
  added: boolean;
  removed: boolean;
}

/** What is longer is shown as before and after: comparing takes longer than reading. */
const COMPARED_MAX_CHARS = 20_000;
/** Where less of the longer text than this stays, single words that stay would only make both unreadable. */
const KEPT_MIN_SHARE = 0.4;

const countSigns = (text: string) => text.replaceAll(/\s/g, "").length;

/** What changes from one text to another, word by word; one after the other where little stays. */
export function diffTexts(before: string, after: string): DiffPart[] {
  const isShort = before.length + after.length <= COMPARED_MAX_CHARS;
  const parts = isShort ? diffWordsWithSpace(before, after) : [];
  const kept = parts.reduce((sum, part) => (part.added || part.removed ? sum : sum + countSigns(part.value)), 0);
  const longest = Math.max(countSigns(before), countSigns(after));
  if (isShort && kept >= longest * KEPT_MIN_SHARE) return parts;
  const lineBreak = before === "" || after === "" ? "" : "\n";
  return [
    { value: before, added: false, removed: true },
    { value: lineBreak, added: false, removed: false },
    { value: after, added: true, removed: false },
  ].filter(({ value }) => value !== "");
}

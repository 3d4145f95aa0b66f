import { randomBytes } from "node:crypto";
import { cutText } from "@svc/text";

/** Control characters other than tab and line feed, and what turns, hides or smuggles text: bidi marks, tags, the BOM. */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- these are the characters that have to go
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E0FFF}]/gu;

/** Marks where texts of others begin and end in a prompt: by a word that none of them can hold. */
export interface Fence {
  /** The word, for the rules of the prompt. */
  readonly word: string;
  /** A text between two lines with the word, defused and no longer than that. */
  around(label: string, text: string, maxChars: number): string;
}

/** Makes a fence. Its word is drawn for each call of a model, after all that is fenced was written. */
export function createFence(): Fence {
  const word = randomBytes(12).toString("hex");
  return {
    word,
    around(label, text, maxChars) {
      // Only what was written by somebody who has seen the prompt, such as a tool, can hold the word.
      const held = defuseText(text, maxChars).replaceAll(word, "…");
      return `[${word} begin ${label}]\n${held}\n[${word} end ${label}]`;
    },
  };
}

/**
 * A text that somebody else has written, as a model may read it: without what only machines see, well-formed, and with at
 * most so many characters.
 */
export function defuseText(text: string, maxChars: number): string {
  const lines = text.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n");
  const shown = lines.replace(HIDDEN, "").replace(/\p{Surrogate}/gu, "\u{FFFD}");
  return shown.length <= maxChars ? shown : `${cutText(shown, maxChars - 2)} …`;
}

import { randomBytes } from "node:crypto";
import { cutText } from "@svc/text";

/**
 * Control characters other than tab and line feed, and characters that reorder or hide text: bidi marks, tags, the BOM.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- these are the characters to remove
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E0FFF}]/gu;

/** Marks untrusted text in a prompt with a random word that the text cannot contain. */
export interface Fence {
  /** The random word, for the rules of the prompt. */
  readonly word: string;
  /** Returns a text between two lines with the word, sanitized and cut to `maxChars`. */
  around(label: string, text: string, maxChars: number): string;
}

/** Creates a fence. Its word is drawn for each call of a model, after all fenced text was written. */
export function createFence(): Fence {
  const word = randomBytes(12).toString("hex");
  return {
    word,
    around(label, text, maxChars) {
      // Only a source that has seen the prompt, such as a tool, can contain the word.
      const held = defuseText(text, maxChars).replaceAll(word, "…");
      return `[${word} begin ${label}]\n${held}\n[${word} end ${label}]`;
    },
  };
}

/**
 * Sanitizes untrusted text for a model: removes invisible characters, makes it well-formed, and cuts it to `maxChars`.
 */
export function defuseText(text: string, maxChars: number): string {
  const lines = text.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n");
  const shown = lines.replace(HIDDEN, "").replace(/\p{Surrogate}/gu, "\u{FFFD}");
  return shown.length <= maxChars ? shown : `${cutText(shown, maxChars - 2)} …`;
}

import { cutText } from "@svc/text";

/** Control characters other than tab and line feed, and what turns, hides or smuggles text: bidi marks, tags, the BOM. */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- these are the characters that have to go
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E0FFF}]/gu;

/**
 * A text that somebody else has written, as a model may read it: without what only machines see, well-formed, and with at
 * most so many characters.
 */
export function defuseText(text: string, maxChars: number): string {
  const lines = text.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n");
  const shown = lines.replace(HIDDEN, "").replace(/\p{Surrogate}/gu, "\u{FFFD}");
  return shown.length <= maxChars ? shown : `${cutText(shown, maxChars - 2)} …`;
}

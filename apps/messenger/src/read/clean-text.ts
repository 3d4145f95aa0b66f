const NUL = /\0/g;

/** A text that can be stored: without NUL and lone surrogates, at most so many code points. */
export function cleanText(text: string, maxChars: number): string {
  const clean = text.toWellFormed().replace(NUL, "");
  // A string has at least as many code units as code points.
  return clean.length <= maxChars ? clean : Array.from(clean).slice(0, maxChars).join("");
}

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\s]+/gu;

/** A name or the like on one line, without what cannot be seen, for where people read it among others. */
export function cleanLine(text: string, maxChars: number): string {
  return cleanText(text.replace(INVISIBLE, " ").trim(), maxChars);
}

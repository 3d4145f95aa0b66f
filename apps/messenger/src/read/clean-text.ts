const NUL = /\0/g;

/** Returns a text that can be stored: without NUL and lone surrogates, at most `maxChars` code points. */
export function cleanText(text: string, maxChars: number): string {
  const clean = text.toWellFormed().replace(NUL, "");
  // A string has at least as many code units as code points.
  return clean.length <= maxChars ? clean : Array.from(clean).slice(0, maxChars).join("");
}

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\s]+/gu;

/** Returns a name on one line, without invisible characters. */
export function cleanLine(text: string, maxChars: number): string {
  return cleanText(text.replace(INVISIBLE, " ").trim(), maxChars);
}

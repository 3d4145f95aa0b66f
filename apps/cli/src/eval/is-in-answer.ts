/** What does not count when an answer is compared: case, width of characters, spaces, and marks of Markdown. */
function normalize(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[*_`~\\]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Whether anything is left of a text to look for. */
export function hasWords(text: string): boolean {
  return normalize(text) !== "";
}

const DIGIT = /\p{Nd}/u;

/**
 * Whether an answer contains a text, whatever its case, spaces and Markdown marks. A number stands alone: 5 is not in
 * 15.
 */
export function isInAnswer(answer: string, wanted: string): boolean {
  const text = normalize(answer);
  const part = normalize(wanted);
  if (part === "") return false;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) {
    const goesOnBefore = DIGIT.test(part.charAt(0)) && DIGIT.test(text.charAt(at - 1));
    const goesOnAfter = DIGIT.test(part.charAt(part.length - 1)) && DIGIT.test(text.charAt(at + part.length));
    if (!goesOnBefore && !goesOnAfter) return true;
  }
  return false;
}

/** What begins a block of its own in Markdown. */
const BLOCK = /^(?:[-*+]\s|\d{1,3}[.)]\s|#{1,6}\s|\||>|```)/;
const LIST_OR_ROW = /^(?:[-*+]\s|\d{1,3}[.)]\s|\|)/;

/** Claims as one text: sentences follow each other on a line, list items and rows on lines of their own. */
export function joinClaims(texts: readonly string[]): string {
  return texts.reduce((whole, text, index) => {
    const before = texts[index - 1];
    return before === undefined ? text : `${whole}${between(before, text)}${text}`;
  }, "");
}

function between(before: string, text: string): string {
  const opens = BLOCK.test(text);
  const closes = BLOCK.test(before);
  if (LIST_OR_ROW.test(text) && LIST_OR_ROW.test(before)) return "\n";
  return opens || closes ? "\n\n" : " ";
}

/** A text without the characters at its end that are of a kind; takes time in proportion to these, as `/x+$/` does not. */
export function trimEnd(text: string, kind: RegExp): string {
  let end = text.length;
  while (end > 0 && kind.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

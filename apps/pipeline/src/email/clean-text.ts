const CONTROL = /[^\P{C}\n\u200c\u200d]/gu;

/** Returns a text of other people in at most `maxChars` code points, without control and bidirectional characters. */
export function cleanText(text: string, maxChars: number): string {
  const clean = text
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll(CONTROL, "")
    .trim();
  const chars = Array.from(clean);
  return chars.length <= maxChars ? clean : `${chars.slice(0, maxChars - 1).join("")}…`;
}

/** Returns a text of other people as a quotation, so that none of its lines looks like a line of the email itself. */
export const quoteText = (text: string, maxChars: number): string =>
  cleanText(text, maxChars).split("\n").map((line) => `> ${line}`).join("\n"); // prettier-ignore

/** Replaces the placeholders of a text by values in one pass, so that placeholders in values are not replaced. */
export const fillText = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));

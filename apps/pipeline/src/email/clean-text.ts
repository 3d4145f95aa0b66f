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

/** Returns a text of other people as a quotation, of which no line can pass for one of the email. */
export const quoteText = (text: string, maxChars: number): string =>
  cleanText(text, maxChars).split("\n").map((line) => `> ${line}`).join("\n"); // prettier-ignore

/** Puts values in the places of a text, all at once: no value is read as a place. */
export const fillText = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));

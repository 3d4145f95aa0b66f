/**
 * A text as Telegram takes it: well-formed, with one kind of line end, without control characters. Half a surrogate
 * pair would make the whole request unreadable.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll(/\p{Cc}/gu, (control) => (control === "\n" || control === "\t" ? control : ""));
}

/** Characters that take room and show nothing, beside white space: Telegram takes no message of such alone. */
const INVISIBLE = /^(?:[\s\p{Cc}\p{Cf}\u115F\u1160\u2800\u3164\uFFA0]|\uFE0F)*$/u;

/** True for a text that shows nothing. */
export const isBlank = (text: string): boolean => INVISIBLE.test(text);

const RIGHT_TO_LEFT =
  /^[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** True for a text whose first letter is of a script that is written from right to left. */
export const isRightToLeft = (text: string): boolean => RIGHT_TO_LEFT.test(/\p{L}/u.exec(text)?.[0] ?? "");

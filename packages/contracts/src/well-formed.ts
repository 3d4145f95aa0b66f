import { z } from "zod";

const CONTROL = /\p{Cc}/u;

/** True when a string holds NUL or a lone surrogate: Postgres cannot store the one, UTF-8 cannot carry the other. */
export function isMalformedText(text: string): boolean {
  return text.includes("\u0000") || !text.isWellFormed();
}

/** True when a string holds a C0 or C1 control character (tabs and line breaks included). */
export function hasControlCharacters(text: string): boolean {
  return CONTROL.test(text);
}

/** Embeddings, overrides and isolates of direction (Unicode UAX #9), with which a name could look like another one. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** A name or title without characters that change the direction of what stands around it. */
export const withoutBidiControls = (text: string): string => text.replace(BIDI_CONTROLS, "");

/** Length in Unicode code points, which is how the service counts characters. */
export function countChars(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) index++;
    }
    count++;
  }
  return count;
}

/** A string that can be stored and sent on: no NUL, no lone surrogate. */
export const wellFormedString = z.string().refine((text) => !isMalformedText(text), {
  error: "must not contain NUL characters or unpaired surrogates",
  params: { code: "malformed_text" },
});

/** A text that may be empty, of at most so many code points. */
export function textUpTo(maxChars: number) {
  return wellFormedString
    .refine((text) => countChars(text) <= maxChars, {
      error: `must have at most ${maxChars} characters`,
      params: { code: "too_long" },
    })
    .meta({ maxLength: maxChars });
}

/**
 * One line of visible text, such as a name: not only white space, at most so many code points. Controls of direction are
 * removed.
 */
export function lineUpTo(maxChars: number, code = "invalid_name") {
  return wellFormedString
    .overwrite(withoutBidiControls)
    .refine((line) => line.trim() !== "" && countChars(line) <= maxChars && !hasControlCharacters(line), {
      error: `must have 1 to ${maxChars} characters, not only whitespace, and no control characters`,
      params: { code },
    })
    .meta({ minLength: 1, maxLength: maxChars, pattern: "\\S" });
}

/** Text of a message: well formed, not only white space, at most `maxChars` code points. */
export function messageText(maxChars: number) {
  return z
    .string()
    .check((context) => {
      const text = context.value;
      const fault = (code: string, message: string) =>
        context.issues.push({ code: "custom", message, input: text, params: { code } });
      if (isMalformedText(text)) fault("malformed_text", "must not contain NUL characters or unpaired surrogates");
      else if (text.trim() === "") fault("too_short", "must not be empty or only whitespace");
      else if (text.length > maxChars && countChars(text) > maxChars)
        fault("too_long", `must have at most ${maxChars} characters`);
    })
    .meta({ minLength: 1, maxLength: maxChars, pattern: "\\S" });
}

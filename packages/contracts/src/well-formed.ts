import { z } from "zod";

const CONTROL = /\p{Cc}/u;

/**
 * Returns true if a string contains NUL, which Postgres cannot store, or an unpaired surrogate, which UTF-8 cannot
 * encode.
 */
export function isMalformedText(text: string): boolean {
  return text.includes("\u0000") || !text.isWellFormed();
}

/** Returns true if a string contains a C0 or C1 control character (including tabs and line breaks). */
export function hasControlCharacters(text: string): boolean {
  return CONTROL.test(text);
}

/** Direction embeddings, overrides and isolates (Unicode UAX #9), which can make a name look like another one. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Returns a name or title without characters that change the direction of surrounding text. */
export const withoutBidiControls = (text: string): string => text.replace(BIDI_CONTROLS, "");

/** Returns the length in Unicode code points, which is how the service counts characters. */
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

/** A string that can be stored and transmitted: no NUL, no unpaired surrogate. */
export const wellFormedString = z.string().refine((text) => !isMalformedText(text), {
  error: "must not contain NUL characters or unpaired surrogates",
  params: { code: "malformed_text" },
});

/** Returns the schema of a text, possibly empty, of at most this many code points. */
export function textUpTo(maxChars: number) {
  return wellFormedString
    .refine((text) => countChars(text) <= maxChars, {
      error: `must have at most ${maxChars} characters`,
      params: { code: "too_long" },
    })
    .meta({ maxLength: maxChars });
}

/**
 * Returns the schema of one line of visible text, such as a name: not only whitespace, at most this many code points.
 * Direction controls are removed.
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

/** Returns the schema of a message's text: well formed, not only whitespace, at most `maxChars` code points. */
export function messageText(maxChars: number) {
  return z
    .string()
    .check((context) => {
      const text = context.value;
      const error = (code: string, message: string) =>
        context.issues.push({ code: "custom", message, input: text, params: { code } });
      if (isMalformedText(text)) error("malformed_text", "must not contain NUL characters or unpaired surrogates");
      else if (text.trim() === "") error("too_short", "must not be empty or only whitespace");
      else if (text.length > maxChars && countChars(text) > maxChars)
        error("too_long", `must have at most ${maxChars} characters`);
    })
    .meta({ minLength: 1, maxLength: maxChars, pattern: "\\S" });
}

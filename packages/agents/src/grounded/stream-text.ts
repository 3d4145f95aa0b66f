import type { OnText } from "../answer.ts";

/** Passes an answer on while it grows. */
export interface TextStream {
  /** Passes on what a text has beyond what was passed on before; what was said already may be its beginning alone. */
  grow(text: string): void;
  /** Replaces the text that was passed on by this one; from the first difference it is sent again. */
  become(text: string): void;
}

/** Makes a stream of an answer: the pieces, put together, are always the last text that it became. */
export function streamText(onText: OnText | undefined): TextStream {
  let said = "";
  function become(text: string): void {
    if (text === said) return;
    let offset = 0;
    while (offset < said.length && said[offset] === text[offset]) offset += 1;
    // Never between the two halves of a character.
    if (/[\uD800-\uDBFF]/.test(said[offset - 1] ?? "")) offset -= 1;
    said = text;
    onText?.({ offset, text: text.slice(offset) });
  }
  return {
    become,
    grow(text) {
      // A model that is asked again starts over; sent text is withdrawn only if the new text differs.
      if (!said.startsWith(text)) become(text);
    },
  };
}

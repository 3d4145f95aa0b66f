import { z } from "zod";
import { promisesPerson } from "../promises-person.ts";
import type { OnText } from "../answer.ts";
import { claimSchema } from "./answer-prompt.ts";
import type { Claim } from "./answer-prompt.ts";
import type { JudgedClaim } from "./judge-claim.ts";

const partialSchema = z.object({
  answered: z.literal(true),
  needsPerson: z.literal(false),
  claims: z.array(z.unknown()),
});

/** What begins a block of its own in Markdown. */
const BLOCK = /^(?:[-*+]\s|\d{1,3}[.)]\s|#{1,6}\s|\||>|```)/;
const LIST_OR_ROW = /^(?:[-*+]\s|\d{1,3}[.)]\s|\|)/;

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

/**
 * Makes the listener that passes on the claims of an answer while it comes: each as soon as it is complete and found
 * good, and none from the first one on that puts the answer in doubt, promises a person or needs a second opinion.
 */
export function passOnClaims(judge: (claim: Claim) => JudgedClaim, stream: TextStream): (partial: unknown) => void {
  return (partial) => {
    const read = partialSchema.safeParse(partial);
    if (!read.success) return;
    // The last one may still grow.
    const complete = read.data.claims.slice(0, -1).map((claim) => claimSchema.safeParse(claim));
    const good: string[] = [];
    for (const { success, data } of complete) {
      const judged = success ? judge(data) : null;
      if (judged === null || judged.isSuspect || promisesPerson(judged.text)) break;
      // What needs a second opinion would stand behind what follows.
      if (judged.kind === "unsure") break;
      if (judged.kind !== "unsupported") good.push(judged.text);
    }
    stream.grow(joinClaims(good));
  };
}

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

/** Matches the beginning of a Markdown block. */
const BLOCK = /^(?:[-*+]\s|\d{1,3}[.)]\s|#{1,6}\s|\||>|```)/;
const LIST_OR_ROW = /^(?:[-*+]\s|\d{1,3}[.)]\s|\|)/;

/** Streams an answer as it is generated. */
export interface TextStream {
  /** Sends what a text adds to the text sent so far; a text shorter than that is ignored. */
  grow(text: string): void;
  /** Replaces the sent text; everything from the first difference on is sent again. */
  become(text: string): void;
}

/** Creates the stream of an answer: its pieces combined are always the last text. */
export function streamText(onText: OnText | undefined): TextStream {
  let said = "";
  function become(text: string): void {
    if (text === said) return;
    let offset = 0;
    while (offset < said.length && said[offset] === text[offset]) offset += 1;
    // Never splits a surrogate pair.
    if (/[\uD800-\uDBFF]/.test(said[offset - 1] ?? "")) offset -= 1;
    said = text;
    onText?.({ offset, text: text.slice(offset) });
  }
  return {
    become,
    grow(text) {
      // A second attempt starts over; sent text is withdrawn only if the new text differs.
      if (!said.startsWith(text)) become(text);
    },
  };
}

/** Joins claims: sentences share a line, list items and rows have lines of their own. */
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
 * Returns the listener that streams the claims of an answer: each as soon as it is complete and supported, up to the
 * first claim that puts the answer in doubt, promises a person or needs a second opinion.
 */
export function passOnClaims(judge: (claim: Claim) => JudgedClaim, stream: TextStream): (partial: unknown) => void {
  return (partial) => {
    const read = partialSchema.safeParse(partial);
    if (!read.success) return;
    // The last claim may be incomplete.
    const complete = read.data.claims.slice(0, -1).map((claim) => claimSchema.safeParse(claim));
    const good: string[] = [];
    for (const { success, data } of complete) {
      const judged = success ? judge(data) : null;
      if (judged === null || judged.isSuspect || promisesPerson(judged.text)) break;
      // A claim that needs a second opinion would have to be inserted before the following ones.
      if (judged.kind === "unsure") break;
      if (judged.kind !== "unsupported") good.push(judged.text);
    }
    stream.grow(joinClaims(good));
  };
}

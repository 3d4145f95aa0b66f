import { randomBytes } from "node:crypto";
import { defuseText } from "./defuse-text.ts";

/** Marks where texts of others begin and end in a prompt: by a word that none of them can hold. */
export interface Fence {
  /** The word, for the rules of the prompt. */
  readonly word: string;
  /** A text between two lines with the word, defused and no longer than that. */
  around(label: string, text: string, maxChars: number): string;
}

/** Makes a fence. Its word is drawn for each call of a model, after all that is fenced was written. */
export function createFence(): Fence {
  const word = randomBytes(12).toString("hex");
  return {
    word,
    around(label, text, maxChars) {
      // Only what was written by somebody who has seen the prompt, such as a tool, can hold the word.
      const held = defuseText(text, maxChars).replaceAll(word, "…");
      return `[${word} begin ${label}]\n${held}\n[${word} end ${label}]`;
    },
  };
}

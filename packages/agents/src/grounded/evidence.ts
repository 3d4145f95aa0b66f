import type { Passage } from "../answer.ts";
import { containsInstructions } from "./contains-instructions.ts";

/** A text that a claim can cite by its number. */
export interface CitableText {
  /** Title and headings, which precede its text in the prompt. */
  title: string;
  text: string;
  /** Null for the result of a tool, which is not a document. */
  passage: Passage | null;
}

/** What a model may cite in one call: passages, and the results of its tools so far. */
export interface Evidence {
  find(number: number): CitableText | null;
  /** Returns the number of texts that can be cited so far. */
  count(): number;
  /** Adds the result of a tool and returns its number. */
  addResult(tool: string, text: string): number;
  /** Titles of passages that were left out because they contain instructions to a model. */
  readonly leftOut: readonly string[];
  /** The other passages, with their numbers. */
  readonly passages: readonly { number: number; cited: CitableText }[];
}

/**
 * Numbers the passages of a search, from 1, followed by the results of earlier tool calls. A text with instructions to
 * a model is left out entirely.
 */
export function collectEvidence(
  hits: readonly Passage[],
  results: readonly { tool: string; text: string }[] = [],
): Evidence {
  const texts: CitableText[] = [];
  const leftOut: string[] = [];
  for (const passage of hits) {
    const title = headingOf(passage);
    if (containsInstructions(`${title}\n${passage.text}`)) leftOut.push(passage.title);
    else texts.push({ title, text: passage.text, passage });
  }
  for (const { tool, text } of results) {
    if (containsInstructions(text)) leftOut.push(tool);
    else texts.push({ title: tool, text, passage: null });
  }
  const passages = texts.map((cited, index) => ({ number: index + 1, cited }));
  return {
    find: (number) => texts[number - 1] ?? null,
    count: () => texts.length,
    addResult(tool, text) {
      return texts.push({ title: tool, text, passage: null });
    },
    leftOut,
    passages,
  };
}

/** Returns title and headings of a passage; a first heading equal to the title is not repeated. */
function headingOf({ title, headingPath }: Passage): string {
  return [title, ...(headingPath[0] === title ? headingPath.slice(1) : headingPath)].join(" › ");
}

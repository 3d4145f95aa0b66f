import type { Passage } from "../answer.ts";
import { givesOrders } from "./gives-orders.ts";

/** Text that a claim can cite, by its number. */
export interface CitableText {
  /** What stands before its text in the prompt: title and headings. */
  title: string;
  text: string;
  /** Null for the result of a tool, which is no document. */
  passage: Passage | null;
}

/** What a model may cite in one call: passages, and whatever its tools have answered so far. */
export interface Evidence {
  find(number: number): CitableText | null;
  /** How much can be cited by now. */
  count(): number;
  /** Adds the result of a tool and returns its number. */
  addResult(tool: string, text: string): number;
  /** Titles of passages that were left out because they give orders to their reader. */
  readonly leftOut: readonly string[];
  /** Those that were not, with their numbers. */
  readonly passages: readonly { number: number; cited: CitableText }[];
}

/**
 * Numbers the passages of a search, from 1, and then what calls of tools have brought before. What gives orders to a
 * model is left out as a whole.
 */
export function collectEvidence(
  hits: readonly Passage[],
  results: readonly { tool: string; text: string }[] = [],
): Evidence {
  const texts: CitableText[] = [];
  const leftOut: string[] = [];
  for (const passage of hits) {
    const title = headingOf(passage);
    if (givesOrders(`${title}\n${passage.text}`)) leftOut.push(passage.title);
    else texts.push({ title, text: passage.text, passage });
  }
  for (const { tool, text } of results) {
    if (givesOrders(text)) leftOut.push(tool);
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

/** Title and headings of a passage; a first heading that is the title is not said twice. */
function headingOf({ title, headingPath }: Passage): string {
  return [title, ...(headingPath[0] === title ? headingPath.slice(1) : headingPath)].join(" › ");
}

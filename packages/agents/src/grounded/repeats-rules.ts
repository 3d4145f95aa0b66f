import { tokenize } from "@svc/text";

/** Number of words in the same order that is no coincidence. */
const RUN_WORDS = 8;

/** What an administrator has put in quotes is meant to be said. */
const SAYINGS = /"[^"\n]{1,500}"|“[^”\n]{1,500}”|„[^“”\n]{1,500}[“”]|«[^»\n]{1,500}»|'[^'\n]{20,500}'/g;

/**
 * Makes the check whether a text reveals the model's instructions: runs of its words that are in the rules and in
 * nothing that may be said.
 */
export function repeatsRules(rules: string): (text: string, sayable: string) => boolean {
  const told = runsOf(rules.replace(SAYINGS, "\n"));
  return (text, sayable) => {
    const runs = [...runsOf(text)].filter((run) => told.has(run));
    if (runs.length === 0) return false;
    const said = runsOf(sayable);
    return runs.some((run) => !said.has(run));
  };
}

/** What an administrator wants to have said word for word. */
export function sayingsOf(instructions: string): string[] {
  return (instructions.match(SAYINGS) ?? []).map((quoted) => quoted.slice(1, -1));
}

function runsOf(text: string): Set<string> {
  const words = tokenize(text).map(({ term }) => term);
  return new Set(words.slice(RUN_WORDS - 1).map((_, at) => words.slice(at, at + RUN_WORDS).join(" ")));
}

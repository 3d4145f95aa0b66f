import { askLine } from "./ask-line.ts";
import type { Cli } from "./cli.ts";

/**
 * Asks a person at a terminal for a yes; anything else is a no. Throws CliError `usage` where nobody is there to ask:
 * `instead` says how to agree without being asked, as in `--yes`. `question` must be safe for a terminal.
 */
export async function confirm(cli: Cli, question: string, instead: string): Promise<boolean> {
  const answer = await askLine(cli, {
    question,
    request: "Type yes and press Enter",
    instead: `Cannot ask for confirmation, because the input is not a terminal. Add ${instead}.`,
  });
  return /^\s*y(?:es)?\s*$/i.test(answer);
}

import type { Cli } from "./cli.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";

const MAX_ANSWER_CHARS = 1_000;

/**
 * Asks a person at a terminal for a yes; anything else is a no. Throws CliError `usage` where nobody is there to ask:
 * `instead` says how to agree without being asked, as in `--yes`. `question` must be safe for a terminal.
 */
export async function confirm(cli: Cli, question: string, instead: string): Promise<boolean> {
  const input = cli.openInput();
  if (input.isTTY !== true) {
    throw new CliError("usage", EXIT.usage, `${question} There is nobody here to say yes: add ${instead}.`);
  }
  cli.terminal.note(`${question} Type yes and Enter:`);
  let answer = "";
  for await (const part of input) {
    answer += typeof part === "string" ? part : Buffer.from(part).toString("utf8");
    if (/[\r\n]/.test(answer) || answer.length > MAX_ANSWER_CHARS) break;
  }
  return /^\s*y(?:es)?\s*$/i.test(answer.split(/[\r\n]/)[0] ?? "");
}

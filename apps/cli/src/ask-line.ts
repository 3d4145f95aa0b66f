import type { Cli } from "./cli.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";

const MAX_ANSWER_CHARS = 1_000;

/**
 * Asks a person at a terminal for one line. Throws CliError `usage` where nobody is there to ask: `instead` says how the
 * command does without. `question` must be safe for a terminal.
 */
export async function askLine(
  cli: Cli,
  { question, request, instead }: { question: string; request: string; instead: string },
): Promise<string> {
  const input = cli.openInput();
  if (input.isTTY !== true) throw new CliError("usage", EXIT.usage, `${question} ${instead}`);
  cli.terminal.note(`${question} ${request}:`);
  let answer = "";
  for await (const part of input) {
    answer += typeof part === "string" ? part : Buffer.from(part).toString("utf8");
    if (/[\r\n]/.test(answer) || answer.length > MAX_ANSWER_CHARS) break;
  }
  return answer.split(/[\r\n]/)[0] ?? "";
}

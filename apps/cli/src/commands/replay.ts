import { Option } from "commander";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jsonOption, projectOption, secondsBetween, urlOption, wholeNumber } from "../options.ts";
import type { ReplayOptions } from "../replay/run-replay.ts";

const MAX_REPLIES = 100;
const DEFAULT_REPLIES = 20;
const MAX_SECONDS = 24 * 60 * 60;
const DEFAULT_MS = 10 * 60_000;

const collect = (id: string, before: string[] = []) => [...before, id];

/** `svc replay`: what a changed agent would have answered, beside what people have sent. */
export function addReplay(program: Command, cli: Cli): void {
  program
    .command("replay")
    .description("compare a changed agent with past replies of operators before you deploy the change")
    .requiredOption("--agent <name>", "current agent (name or ID)")
    .requiredOption("--against <change>", "file with the change, as JSON or YAML, or name or ID of another agent")
    .option("--limit <number>", "maximum number of replies, newest first", wholeNumber(1, MAX_REPLIES), DEFAULT_REPLIES)
    .option("--from <time>", "replies at or after this time, such as 2026-11-21")
    .option("--to <time>", "replies before this time")
    .option("--ticket <id>", "only this ticket, of any agent (repeatable)", collect)
    .addOption(
      new Option("--timeout <seconds>", "time limit")
        .argParser(secondsBetween(1, MAX_SECONDS))
        .default(DEFAULT_MS, String(DEFAULT_MS / 1_000)),
    )
    .option(
      "--fail-if-worse",
      "exit with code 1 if more answers got worse than better, or if not all replies were compared",
    )
    .addOption(urlOption())
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Compares the current and the changed agent with replies that operators approved, edited or wrote. Both agents answer the
same messages, with the conversation as it was then and the current knowledge. Nothing is sent, stored or changed, and
no tool is called. The running service does the work, with its language models. The file contains the fields to change,
named as in the HTTP API:
  {"autoThreshold": 0.6, "model": "ollama:qwen3:8b", "instructions": "Answer in two sentences."}
F1 is the overlap of words between an answer and the sent reply (token F1), L that of their longest common subsequence of
words (ROUGE-L). An answer is worse if its F1 falls by at least 0.05, or if it would now be sent with an F1 below 0.5; it
is better if its F1 rises by at least 0.05. If only sending changes, and F1 is at least 0.5, an answer is better if it is
now sent, and worse if it is now held.
Examples:
  ${cli.self} replay --agent billing --against change.json
  ${cli.self} replay --agent billing --against billing-next --limit 100 --fail-if-worse
  ${cli.self} replay --agent billing --against change.yaml --from 2026-11-01 --json`,
    )
    .action(async (options: ReplayOptions) => {
      const { runReplay } = await import("../replay/run-replay.ts");
      await runReplay(cli, options);
    });
}

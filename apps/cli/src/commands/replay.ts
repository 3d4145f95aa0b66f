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
    .description("try a changed agent on what people have answered, before it goes to work")
    .requiredOption("--agent <name>", "the agent as it is (name or id)")
    .requiredOption("--against <change>", "file with the change, JSON or YAML; or name or id of another agent")
    .option("--limit <number>", "how many replies, the newest first", wholeNumber(1, MAX_REPLIES), DEFAULT_REPLIES)
    .option("--from <time>", "replies from this time on, such as 2026-11-21")
    .option("--to <time>", "and before this one")
    .option("--ticket <id>", "this ticket, whichever agent has it; can be given several times", collect)
    .option("--timeout <seconds>", "how long it may take; 600 at first", secondsBetween(1, MAX_SECONDS), DEFAULT_MS)
    .option("--fail-if-worse", "end with exit code 1 when more got worse than better, or not all was compared")
    .addOption(urlOption())
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Replies that people approved, edited or wrote are the measure: the messages that they answered go to the agent as it is
and as it would be, each with its chat as it was then and with the knowledge of now. Nothing is sent, kept or changed,
and no tool is called. The running service does it, with its language models. A file has the fields that agents have over the HTTP API, and names those that change:

  {"autoThreshold": 0.6, "model": "ollama:qwen3:8b", "instructions": "Answer in two sentences."}

F1 is the share of words that an answer has in common with what was sent (token F1), L that of the longest sequence of
words in the same order (ROUGE-L). An answer is worse when its F1 falls by 0.05 or more, or when it would now be sent and
its F1 is below 0.5; better when its F1 rises by so much. Else only one from 0.5 on changes: better when it is now sent,
worse when it is now held.

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

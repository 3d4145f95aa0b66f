import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import type { EvaluateFileOptions } from "../eval/evaluate-file.ts";
import { jsonOption, projectOption } from "../options.ts";

const MAX_SHOWN = 200;
const DEFAULT_SHOWN = 10;

function parseShown(text: string): number {
  const count = Number(text);
  if (/^\d{1,3}$/.test(text) && count <= MAX_SHOWN) return count;
  throw new InvalidArgumentError(`Must be a number from 0 to ${MAX_SHOWN}.`);
}

function parseScore(text: string): number {
  const score = Number(text);
  if (text.trim() !== "" && score >= 0 && score <= 1) return score;
  throw new InvalidArgumentError("Must be a number from 0 to 1, for example 0.8.");
}

/** `svc eval`: how good triage, search and answers are on the messages of a file. */
export function addEval(program: Command, cli: Cli): void {
  program
    .command("eval")
    .description("evaluate routing, search and answers on your own messages with expected results")
    .argument("<file>", "JSON lines, one message per line; - for standard input")
    .option("--agent <name>", "skip routing and ask this agent (name or ID)")
    .addOption(
      new Option("--show <number>", "number of worst lines to show")
        .argParser(parseShown)
        .default(DEFAULT_SHOWN, String(DEFAULT_SHOWN)),
    )
    .option("--out <file>", "write the result of each line, as JSON lines")
    .option("--fail-under <share>", "exit with code 1 if a smaller share of lines is as expected", parseScore)
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Each line is an object. "text" is the customer's message; the other fields are the expected results. Omitted fields are
not evaluated:
  agent     name or ID of the expected agent; null if no agent should be chosen
  document  key, title, URL or ID of the document with the answer, or a list of them; null if no document answers it, so
            that an operator must
  answer    text that the answer must contain, or a list of alternatives (ignoring case, whitespace and Markdown); null
            if an operator must answer
  chat      earlier messages, oldest first: strings, or objects with author (customer or agent) and text; the service
            answers customer messages that are not followed by an answer
  id        name of the line in --out
  {"text": "Where is my invoice?", "agent": "billing", "document": "invoices.md", "answer": "under Account"}
  {"text": "And as a PDF?", "chat": ["Where is my invoice?"], "answer": ["Download", "export"]}
  {"text": "Will it rain tomorrow?", "agent": null, "document": null}
A line is as expected if all of its expected results match; a document must be among the first three. Messages are
processed with the current agents, knowledge bases and decisions of the project, but no ticket is created and nothing is
changed. The service does not have to be running.
Examples:
  ${cli.self} eval questions.jsonl
  ${cli.self} eval questions.jsonl --project shop --agent billing --show 30
  ${cli.self} eval questions.jsonl --fail-under 0.8 --out predictions.jsonl`,
    )
    .action(async (file: string, options: EvaluateFileOptions) => {
      const { evaluateFile } = await import("../eval/evaluate-file.ts");
      await evaluateFile(cli, file, options);
    });
}

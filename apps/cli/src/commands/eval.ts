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
  throw new InvalidArgumentError(`A number from 0 to ${MAX_SHOWN} is needed.`);
}

function parseScore(text: string): number {
  const score = Number(text);
  if (text.trim() !== "" && score >= 0 && score <= 1) return score;
  throw new InvalidArgumentError("A share from 0 to 1 is needed, for example 0.8.");
}

/** `svc eval`: how good triage, search and answers are on the messages of a file. */
export function addEval(program: Command, cli: Cli): void {
  program
    .command("eval")
    .description("score triage, search and answers on your own messages with known answers")
    .argument("<file>", "JSON lines, one message each; - is standard input")
    .option("--agent <name>", "leave triage out and ask this agent (name or id)")
    .addOption(
      new Option("--show <number>", "how many of the worst lines are shown")
        .argParser(parseShown)
        .default(DEFAULT_SHOWN, String(DEFAULT_SHOWN)),
    )
    .option("--out <file>", "write what came out of each line, as JSON lines")
    .option("--fail-under <share>", "end with exit code 1 when fewer lines than this share are as expected", parseScore)
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A line is an object. Its text is what a customer writes; everything else says what is right, and what is not said is
not scored:
  agent     name or id of the agent that should get it; null: none of them
  document  key, title, URL or id of the document that answers, or a list of them; null: nothing answers, so that a
            person has to
  answer    text that the answer must contain, or a list of which any will do (case, spaces and Markdown marks do not
            count); null: a person has to answer
  chat      earlier messages, oldest first: texts, or objects with author (customer or agent) and text; the product
            answers those of the customer that no answer follows
  id        what the line is called in --out

  {"text": "Where is my invoice?", "agent": "billing", "document": "invoices.md", "answer": "under Account"}
  {"text": "And as a PDF?", "chat": ["Where is my invoice?"], "answer": ["Download", "export"]}
  {"text": "Will it rain tomorrow?", "agent": null, "document": null}

A line is as expected when all that it says holds; a document has to be among the first three. The messages go the way
of every message, through the agents, knowledge bases and decided messages of the project as they are, but no ticket is
made and nothing is changed. The product may run or not.

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

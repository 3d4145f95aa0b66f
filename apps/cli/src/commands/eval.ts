import { InvalidArgumentError } from "commander";
import { defineCommand } from "../define-command.ts";
import { option, projectOption, shareFrom0To1, withDefault } from "../options.ts";

const MAX_SHOWN = 200;
const DEFAULT_SHOWN = 10;

function parseShown(text: string): number {
  const count = Number(text);
  if (/^\d{1,3}$/.test(text) && count <= MAX_SHOWN) return count;
  throw new InvalidArgumentError(`Must be a number from 0 to ${MAX_SHOWN}.`);
}

/** `svc eval`: quality of routing, search and answers on the messages of a file. */
export const evaluate = defineCommand({
  args: { "<file>": "JSON lines, one message per line; - for standard input" },
  options: {
    agent: option("--agent <name>", "skip routing and ask this agent (name or ID)"),
    show: withDefault(option("--show <number>", "number of worst lines to show", parseShown), DEFAULT_SHOWN),
    out: option("--out <file>", "write the result of each line, as JSON lines"),
    failUnder: option(
      "--fail-under <share>",
      "exit with code 1 if a smaller share of lines is as expected",
      shareFrom0To1(", for example 0.8"),
    ),
    project: projectOption,
  },
  about: `Each line is an object. "text" is the customer's message; the other fields are the expected results. Omitted fields are
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
changed. The service does not have to be running.`,
  examples: [
    "eval questions.jsonl",
    "eval questions.jsonl --project shop --agent billing --show 30",
    "eval questions.jsonl --fail-under 0.8 --out predictions.jsonl",
  ],
  async run(cli, input) {
    const { evaluateFile } = await import("../eval/run-eval.ts");
    await evaluateFile(cli, input);
  },
});

import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { AgentOptions } from "../agents/agent-options.ts";
import type { AskAgentOptions } from "../agents/run-ask.ts";
import type { ChangeOptions } from "../agents/run-change.ts";
import type { DeleteOptions } from "../agents/run-delete.ts";
import type { Cli } from "../cli.ts";
import { jsonOption, projectOption, urlOption } from "../options.ts";

const collect = (text: string, before: string[] = []) => [...before, text];

function parseThreshold(text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && number >= 0 && number <= 1) return number;
  throw new InvalidArgumentError("Must be a number from 0 to 1.");
}

const repeatable = (flags: string, description: string) =>
  new Option(flags, `${description} (repeatable)`).argParser(collect);

/** The options that say what an agent is like. */
function addSettings(command: Command): Command {
  return command
    .option("--description <text>", "responsibility in a sentence or two, used for routing")
    .addOption(repeatable("--kb <name>", "knowledge base to answer from"))
    .addOption(repeatable("--example <text>", "example message that should be routed to this agent"))
    .option("--examples <file>", "file with example messages, one per line; - for standard input")
    .addOption(
      new Option(
        "--policy <policy>",
        "when answers are sent without approval: auto, review or auto_if (above the threshold)",
      ).choices(["auto", "review", "auto_if"]),
    )
    .addOption(
      new Option("--threshold <number>", "minimum confidence for auto_if, from 0 to 1 (default 0.5)").argParser(
        parseThreshold,
      ),
    )
    .option("--fixed-reply <text>", "fixed text that the agent sends instead of an answer")
    .option("--model <name>", "language model as shown by models list, none, or default for SVC_LLM_MODEL")
    .option("--instructions <text>", "instructions for the language model; @FILE reads them from a file")
    .option("--tools <file>", "JSON file with the list of tools for the language model; - for standard input");
}

function addList(agents: Command, cli: Cli): void {
  agents
    .command("list")
    .description("list the agents of a project")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} agents list\n  ${cli.self} agents list --project shop --json`)
    .action(async (options: { project: string }) => {
      const { runList } = await import("../agents/run-list.ts");
      await runList(cli, options);
    });
}

function addShow(agents: Command, cli: Cli): void {
  agents
    .command("show")
    .description("show an agent")
    .argument("<agent>", "name or ID of the agent")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} agents show billing`)
    .action(async (name: string, options: { project: string }) => {
      const { runShow } = await import("../agents/run-show.ts");
      await runShow(cli, name, options);
    });
}

function addCreate(agents: Command, cli: Cli): void {
  addSettings(
    agents
      .command("create")
      .description("create an agent")
      .argument("<name>", "name, unique in the project; also used for routing"),
  )
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The agent receives messages within seconds, without a restart. If there are several agents, messages are routed by
name, description, examples and knowledge bases. For best results, add at least ten examples per agent, worded as
customers write them.
Examples:
  ${cli.self} agents create billing --kb invoices --description "Invoices, payments and refunds."
  ${cli.self} agents create repairs --kb manuals --examples repairs.txt --policy review
  ${cli.self} agents create night --fixed-reply "We are back at nine." --policy auto`,
    )
    .action(async (name: string, options: AgentOptions) => {
      const { runCreate } = await import("../agents/run-create.ts");
      await runCreate(cli, name, options);
    });
}

function addChange(agents: Command, cli: Cli): void {
  addSettings(
    agents
      .command("update")
      .alias("change")
      .description("update an agent")
      .argument("<agent>", "name or ID of the agent, as shown by agents list"),
  )
    .option("--no-fixed-reply", "remove the fixed reply and answer from knowledge bases again")
    .option("--name <name>", "new name")
    .addOption(repeatable("--add-kb <name>", "knowledge base to add"))
    .addOption(repeatable("--remove-kb <name>", "knowledge base to remove"))
    .addOption(repeatable("--add-example <text>", "example message to add"))
    .addOption(new Option("--enable", "enable the agent").conflicts("disable"))
    .option("--disable", "disable the agent, so that it receives no messages")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Omitted options stay unchanged. --kb, --example, --examples and --tools replace the whole list; --add-kb and
--add-example add to it. Changes take effect within seconds.
Examples:
  ${cli.self} agents update assistant --add-kb documents --remove-kb guide
  ${cli.self} agents update billing --add-example "Where is my invoice?" --threshold 0.6
  ${cli.self} agents update billing --model ollama:qwen3:8b --instructions "Answer in two sentences."
  ${cli.self} agents update billing --tools tools.json
  ${cli.self} agents update night --disable`,
    )
    .action(async (name: string, options: ChangeOptions) => {
      const { runChange } = await import("../agents/run-change.ts");
      await runChange(cli, name, options);
    });
}

function addDelete(agents: Command, cli: Cli): void {
  agents
    .command("delete")
    .description("delete an agent, but not its knowledge bases")
    .argument("<agent>", "name or ID of the agent")
    .option("--yes", "skip the confirmation")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} agents delete billing\n  ${cli.self} agents delete billing --yes`)
    .action(async (name: string, options: DeleteOptions) => {
      const { runDelete } = await import("../agents/run-delete.ts");
      await runDelete(cli, name, options);
    });
}

function addAskAgent(agents: Command, cli: Cli): void {
  agents
    .command("ask")
    .description("ask an agent without creating a ticket, and show the answer with its sources")
    .argument("<agent>", "name or ID of the agent")
    .argument("<text>", "the question")
    .option("--context <text>", "earlier questions, one per line")
    .addOption(urlOption())
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The running service answers, with its language model. If no service is running, the command itself runs the agent, with
the settings of this environment. Nothing is stored. The exit code is 0 even if the agent has no answer.
Examples:
  ${cli.self} agents ask billing "Where is my invoice?"
  ${cli.self} agents ask assistant "And on Windows?" --context "How do I install it?" --json`,
    )
    .action(async (name: string, text: string, options: AskAgentOptions) => {
      const { runAsk } = await import("../agents/run-ask.ts");
      await runAsk(cli, name, text, options);
    });
}

/** `svc agents`: shows, makes, changes, deletes and asks those who answer. */
export function addAgents(program: Command, cli: Cli): void {
  const agents = program
    .command("agents")
    .description("list, create, update, delete and ask agents")
    .usage("<list|show|create|update|delete|ask> [options]");
  addList(agents, cli);
  addShow(agents, cli);
  addCreate(agents, cli);
  addChange(agents, cli);
  addDelete(agents, cli);
  addAskAgent(agents, cli);
}

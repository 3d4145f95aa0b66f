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
  throw new InvalidArgumentError("A number from 0 to 1 is needed.");
}

const repeatable = (flags: string, description: string) =>
  new Option(flags, `${description}; can be given several times`).argParser(collect);

/** The options that say what an agent is like. */
function addSettings(command: Command): Command {
  return command
    .option("--description <text>", "what it is for, in a sentence or two: triage goes by it")
    .addOption(repeatable("--kb <name>", "knowledge base to answer from"))
    .addOption(repeatable("--example <text>", "a message that it should get"))
    .option("--examples <file>", "file with such messages, one a line; - for standard input")
    .addOption(
      new Option(
        "--policy <policy>",
        "when an answer is sent without a person: always, never, or when it is sure",
      ).choices(["auto", "review", "auto_if"]),
    )
    .addOption(
      new Option("--threshold <number>", "how sure auto_if has to be, 0 to 1; 0.5 at first").argParser(parseThreshold),
    )
    .option("--fixed-reply <text>", "a text that it answers to everything")
    .option("--model <name>", "its language model as models list shows it, none, or default for SVC_LLM_MODEL")
    .option("--instructions <text>", "how its model is to answer; @FILE reads them from a file")
    .option("--tools <file>", "JSON file with the list of tools that its model may call; - for standard input");
}

function addList(agents: Command, cli: Cli): void {
  agents
    .command("list")
    .description("show the agents of a project")
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
    .description("show one agent")
    .argument("<agent>", "its name or id")
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
      .description("make an agent")
      .argument("<name>", "its name, used once in the project; triage goes by it too"),
  )
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
It gets messages within seconds; nothing has to be started again. With several agents, triage goes by their names,
descriptions, examples and knowledge bases: ten examples or more for each are best, as customers write them.

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
    agents.command("change").description("change an agent").argument("<agent>", "its name or id; agents list shows it"),
  )
    .option("--no-fixed-reply", "answer from knowledge bases again")
    .option("--name <name>", "a new name")
    .addOption(repeatable("--add-kb <name>", "a further knowledge base"))
    .addOption(repeatable("--remove-kb <name>", "a knowledge base that it should not answer from any more"))
    .addOption(repeatable("--add-example <text>", "a further message that it should get"))
    .addOption(new Option("--enable", "let it get messages again").conflicts("disable"))
    .option("--disable", "give it no more messages")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
What is not named stays. --kb, --example, --examples and --tools replace what it had; --add-kb and --add-example add to it.
Messages find it changed within seconds.

Examples:
  ${cli.self} agents change assistant --add-kb documents --remove-kb guide
  ${cli.self} agents change billing --add-example "Where is my invoice?" --threshold 0.6
  ${cli.self} agents change billing --model ollama:qwen3:8b --instructions "Answer in two sentences."
  ${cli.self} agents change billing --tools tools.json
  ${cli.self} agents change night --disable`,
    )
    .action(async (name: string, options: ChangeOptions) => {
      const { runChange } = await import("../agents/run-change.ts");
      await runChange(cli, name, options);
    });
}

function addDelete(agents: Command, cli: Cli): void {
  agents
    .command("delete")
    .description("delete an agent; its knowledge bases stay")
    .argument("<agent>", "its name or id")
    .option("--yes", "do not ask")
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
    .description("ask one agent, without a chat, and show its answer with sources")
    .argument("<agent>", "its name or id")
    .argument("<text>", "the question")
    .option("--context <text>", "what was asked before, one question a line")
    .addOption(urlOption())
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
The running service answers, with its language model. Where none runs, this command does, with the settings of this
terminal. Nothing is kept. The exit code is 0 also when the agent has nothing to say.

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
    .description("agents: list, show, create, change, delete and ask those who answer")
    .usage("<list|show|create|change|delete|ask> [options]");
  addList(agents, cli);
  addShow(agents, cli);
  addCreate(agents, cli);
  addChange(agents, cli);
  addDelete(agents, cli);
  addAskAgent(agents, cli);
}

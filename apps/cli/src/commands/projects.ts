import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";
import type { ProjectOptions } from "../projects/project-options.ts";
import type { DeleteOptions } from "../projects/run-delete.ts";

const NAME_HELP = "its name; projects list shows it";

function parseRetention(text: string): number | "forever" {
  if (text === "forever") return text;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A number of days is needed, or forever.");
}

function parseModelLimit(text: string): number | "any" {
  if (text === "any") return text;
  if (/^[1-9]\d{0,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A number is needed, or any.");
}

function parseHandoffIn(given: string, before: Record<string, string> = {}): Record<string, string> {
  const [, language = "", text = ""] = /^([a-z]{2})=(.*)$/s.exec(given) ?? [];
  if (language === "") throw new InvalidArgumentError('A language and its text are needed, such as de="…".');
  return { ...before, [language]: text.trim() };
}

/** The options that say what a project is like. */
function addSettings(command: Command): Command {
  return command
    .addOption(
      new Option("--handoff-text <text>", "what a customer reads when a person has to answer; may be empty").conflicts(
        "handoffFile",
      ),
    )
    .option("--handoff-file <file>", "file with that text; - for standard input")
    .addOption(
      new Option(
        "--handoff-in <language=text>",
        'the same for customers who write in that language, such as de="…"; empty: the service\'s own; repeatable',
      ).argParser(parseHandoffIn),
    )
    .option(
      "--greeting <text>",
      'what a customer of the messenger reads who starts the bot; "" for the service\'s own text',
    )
    .addOption(
      new Option("--tables <on|off>", "whether tables of answers also come as XLSX files").choices(["on", "off"]),
    )
    .addOption(
      new Option("--retention <days>", "how long conversations are kept; forever at first").argParser(parseRetention),
    )
    .addOption(
      new Option(
        "--file-retention <days>",
        "how long files of customers are kept; 90 by default, forever: as long as the conversation",
      ).argParser(parseRetention),
    )
    .addOption(
      new Option("--model-calls <number>", "calls of language models at once; any for no limit, 8 at first").argParser(
        parseModelLimit,
      ),
    )
    .addOption(
      new Option("--model-tokens <number>", "tokens of language models a day (UTC); any at first").argParser(
        parseModelLimit,
      ),
    );
}

function addReading(projects: Command, cli: Cli): void {
  projects
    .command("list")
    .description("show all projects")
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} projects list\n  ${cli.self} projects list --json`)
    .action(async () => {
      const { runList } = await import("../projects/run-list.ts");
      await runList(cli);
    });
  projects
    .command("show")
    .description("show a project with its settings")
    .argument("<project>", NAME_HELP)
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} projects show shop`)
    .action(async (name: string) => {
      const { runShow } = await import("../projects/run-show.ts");
      await runShow(cli, name);
    });
}

function addChanging(projects: Command, cli: Cli): void {
  addSettings(projects.command("create").description("make a project").argument("<name>", "a-z, 0-9 and -"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
A project keeps its chats, agents, knowledge bases and keys apart from those of others.

Examples:
  ${cli.self} projects create shop
  ${cli.self} projects create clinic --retention 90 --handoff-text "A nurse will answer you."`,
    )
    .action(async (name: string, options: ProjectOptions) => {
      const { runCreate } = await import("../projects/run-create.ts");
      await runCreate(cli, name, options);
    });
  addSettings(projects.command("change").description("change a project's settings").argument("<project>", NAME_HELP))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
What is not named stays. A running product follows within seconds. The secret that signs the project's callbacks is set
with the command webhook secret.

Examples:
  ${cli.self} projects change shop --retention 365
  ${cli.self} projects change shop --handoff-file handoff.txt --tables off
  ${cli.self} projects change shop --handoff-in de="Ein Mensch antwortet Ihnen hier."
  ${cli.self} projects change shop --model-calls 4 --model-tokens 2000000
  ${cli.self} webhook secret --project shop --generate`,
    )
    .action(async (name: string, options: ProjectOptions) => {
      const { runChange } = await import("../projects/run-change.ts");
      await runChange(cli, name, options);
    });
  projects
    .command("rename")
    .description("give a project another name; its keys and chats stay with it")
    .argument("<project>", NAME_HELP)
    .argument("<new name>", "a-z, 0-9 and -")
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} projects rename shop store`)
    .action(async (name: string, newName: string) => {
      const { runRename } = await import("../projects/run-change.ts");
      await runRename(cli, name, newName);
    });
  projects
    .command("delete")
    .description("delete a project with all that it holds: agents, knowledge bases, chats, keys")
    .argument("<project>", NAME_HELP)
    .option("--confirm <name>", "its name once more, in place of the question")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
It is said what would be deleted, and the name has to be typed. There is no way back.

Examples:
  ${cli.self} projects delete shop
  ${cli.self} projects delete shop --confirm shop`,
    )
    .action(async (name: string, options: DeleteOptions) => {
      const { runDelete } = await import("../projects/run-delete.ts");
      await runDelete(cli, name, options);
    });
}

/** `svc projects`: shows, makes, changes, renames and deletes projects. */
export function addProjects(program: Command, cli: Cli): void {
  const projects = program
    .command("projects")
    .description("projects: list, show, create, change, rename and delete them")
    .usage("<list|show|create|change|rename|delete> [options]");
  addReading(projects, cli);
  addChanging(projects, cli);
}

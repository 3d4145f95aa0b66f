import { InvalidArgumentError, Option } from "commander";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jsonOption } from "../options.ts";
import type { ProjectOptions } from "../projects/project-options.ts";
import type { DeleteOptions } from "../projects/run-delete.ts";

const NAME_HELP = "name of the project, as shown by projects list";

function parseRetention(text: string): number | "forever" {
  if (text === "forever") return text;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Must be a number of days, or forever.");
}

function parseModelLimit(text: string): number | "any" {
  if (text === "any") return text;
  if (/^[1-9]\d{0,12}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Must be a number, or any.");
}

function parseHandoffIn(given: string, before: Record<string, string> = {}): Record<string, string> {
  const [, language = "", text = ""] = /^([a-z]{2})=(.*)$/s.exec(given) ?? [];
  if (language === "") throw new InvalidArgumentError('Must be a language and a text, such as de="…".');
  return { ...before, [language]: text.trim() };
}

/** The options that say what a project is like. */
function addSettings(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--handoff-text <text>",
        "text sent to customers when a conversation is handed over to a person; can be empty",
      ).conflicts("handoffFile"),
    )
    .option("--handoff-file <file>", "file with the handoff text; - for standard input")
    .addOption(
      new Option(
        "--handoff-in <language=text>",
        'handoff text for customers who write in that language, such as de="…"; empty for the service\'s own (repeatable)',
      ).argParser(parseHandoffIn),
    )
    .option("--greeting <text>", 'greeting for customers who start the Telegram bot; "" for the service\'s own text')
    .addOption(
      new Option("--tables <on|off>", "whether tables in answers are also sent as XLSX files").choices(["on", "off"]),
    )
    .addOption(
      new Option("--retention <days>", "how long conversations are kept (default: forever)").argParser(parseRetention),
    )
    .addOption(
      new Option(
        "--file-retention <days>",
        "how long files of customers are kept (default: 90; forever: as long as the conversation)",
      ).argParser(parseRetention),
    )
    .addOption(
      new Option(
        "--model-calls <number>",
        "concurrent calls to language models; any for no limit (default: 8)",
      ).argParser(parseModelLimit),
    )
    .addOption(
      new Option(
        "--model-tokens <number>",
        "tokens of language models per day (UTC); any for no limit (default: any)",
      ).argParser(parseModelLimit),
    );
}

function addReading(projects: Command, cli: Cli): void {
  projects
    .command("list")
    .description("list all projects")
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
  addSettings(projects.command("create").description("create a project").argument("<name>", "a-z, 0-9 and -"))
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Projects keep their chats, agents, knowledge bases and keys separate.
Examples:
  ${cli.self} projects create shop
  ${cli.self} projects create clinic --retention 90 --handoff-text "A nurse will answer you."`,
    )
    .action(async (name: string, options: ProjectOptions) => {
      const { runCreate } = await import("../projects/run-create.ts");
      await runCreate(cli, name, options);
    });
  addSettings(
    projects
      .command("update")
      .alias("change")
      .description("update a project's settings")
      .argument("<project>", NAME_HELP),
  )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Omitted options stay unchanged. A running service applies changes within seconds. To set the secret that signs the
project's callbacks, use webhook secret.
Examples:
  ${cli.self} projects update shop --retention 365
  ${cli.self} projects update shop --handoff-file handoff.txt --tables off
  ${cli.self} projects update shop --handoff-in de="Ein Mensch antwortet Ihnen hier."
  ${cli.self} projects update shop --model-calls 4 --model-tokens 2000000
  ${cli.self} webhook secret --project shop --generate`,
    )
    .action(async (name: string, options: ProjectOptions) => {
      const { runChange } = await import("../projects/run-change.ts");
      await runChange(cli, name, options);
    });
  projects
    .command("rename")
    .description("rename a project; its keys and chats are not affected")
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
    .description("delete a project with its agents, knowledge bases, chats and keys")
    .argument("<project>", NAME_HELP)
    .option("--confirm <name>", "name of the project, to skip the confirmation")
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Shows what would be deleted, and asks you to type the name. This cannot be undone.
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
    .description("list, create, update, rename and delete projects")
    .usage("<list|show|create|update|rename|delete> [options]");
  addReading(projects, cli);
  addChanging(projects, cli);
}

import { Option } from "commander";
import type { Command } from "commander";
import { CHANNEL_IDS } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { jsonOption, projectOption } from "../options.ts";
import type { EraseOptions } from "../privacy/run-erase.ts";
import type { ExportOptions } from "../privacy/run-export.ts";

/** The options that say whose data it is about. */
function addSubject(command: Command): Command {
  return command
    .option("--user <userId>", "a user, as messages name it: every chat in which that user wrote")
    .option("--visitor <visitorId>", "a visitor of the widget")
    .option("--chat <chatId>", "a chat, on every channel unless one is named")
    .addOption(new Option("--channel <channel>", "the channel of the chat").choices(CHANNEL_IDS))
    .addOption(projectOption())
    .addOption(jsonOption());
}

/** `svc privacy export|erase`: what is held of one person. */
export function addPrivacy(program: Command, cli: Cli): void {
  const privacy = program
    .command("privacy")
    .description("what is held of one person: hand it out, or erase it")
    .usage("<export|erase> [options]");
  addSubject(
    privacy
      .command("export")
      .description("hand out all that a project holds of a user, a visitor or a chat, as one JSON document"),
  )
    .option("--out <file>", "a new file for it, which only you can read; without it, it is shown")
    .addHelpText(
      "after",
      `
Examples:
  ${cli.self} privacy export --user u-42 --out u-42.json
  ${cli.self} privacy export --chat 4711 --channel api --project shop --json`,
    )
    .action(async (options: ExportOptions) => {
      const { runExport } = await import("../privacy/run-export.ts");
      await runExport(cli, options);
    });
  addSubject(
    privacy.command("erase").description("erase all that a project holds of a user, a visitor or a chat, for ever"),
  )
    .option("--yes", "do so without being asked")
    .addHelpText(
      "after",
      `
The receipt says how much was erased, and names the person by a keyed hash. docs/privacy.md says what stays.

Examples:
  ${cli.self} privacy erase --user u-42
  ${cli.self} privacy erase --chat 4711 --channel api --project shop --yes`,
    )
    .action(async (options: EraseOptions) => {
      const { runErase } = await import("../privacy/run-erase.ts");
      await runErase(cli, options);
    });
}

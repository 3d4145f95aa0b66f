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
    .option("--user <userId>", "a user ID as in messages; covers every chat in which the user wrote")
    .option("--visitor <visitorId>", "a visitor of the widget")
    .option("--chat <chatId>", "a chat, on every channel unless --channel is given")
    .addOption(new Option("--channel <channel>", "channel of the chat").choices(CHANNEL_IDS))
    .addOption(projectOption())
    .addOption(jsonOption());
}

/** `svc privacy export|erase`: what is held of one person. */
export function addPrivacy(program: Command, cli: Cli): void {
  const privacy = program
    .command("privacy")
    .description("export or erase the personal data of one person")
    .usage("<export|erase> [options]");
  addSubject(
    privacy
      .command("export")
      .description("export all data of a user, a visitor or a chat in a project, as one JSON document"),
  )
    .option("--out <file>", "new output file, readable only by you (default: standard output)")
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
    privacy.command("erase").description("erase all data of a user, a visitor or a chat in a project, permanently"),
  )
    .option("--yes", "skip the confirmation")
    .addHelpText(
      "after",
      `
The receipt contains the number of erased records, and identifies the person by a keyed hash. docs/privacy.md describes
what is not erased.
Examples:
  ${cli.self} privacy erase --user u-42
  ${cli.self} privacy erase --chat 4711 --channel api --project shop --yes`,
    )
    .action(async (options: EraseOptions) => {
      const { runErase } = await import("../privacy/run-erase.ts");
      await runErase(cli, options);
    });
}

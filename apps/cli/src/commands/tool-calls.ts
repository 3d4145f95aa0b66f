import { Option } from "commander";
import type { Command } from "commander";
import type { ToolCallState } from "@svc/contracts";
import type { Cli } from "../cli.ts";
import { jsonOption, limitOption, projectOption, wholeNumber } from "../options.ts";
import type { ListOptions } from "../tool-calls/run-list.ts";
import type { DecideOptions } from "../tool-calls/run-decide.ts";

/** Named here so that the help needs nothing of the product. */
const STATES = [
  "waiting",
  "approved",
  "running",
  "done",
  "failed",
  "unknown",
  "rejected",
] as const satisfies ToolCallState[];

const DECISIONS = {
  approve: "let a call that waits be made, once",
  reject: "refuse a call that waits: it is never made",
} as const;

const ABOUT_ASKING = `
You are shown the call and what waits, and asked. Scripts say --yes: it counts as long as the customer has not written since
the agent asked for the call; by --seen it counts for the ticket as it was read, whatever was written before.
`;

/** `svc tool-calls list|approve|reject`: calls of agents' tools, and those that wait for an operator. */
export function addToolCalls(program: Command, cli: Cli): void {
  const toolCalls = program
    .command("tool-calls")
    .description("calls of agents' tools: show them, approve or reject those that wait")
    .usage("<list|approve|reject> [options]");
  toolCalls
    .command("list")
    .description("show the calls of a project's agents, newest first")
    .addOption(new Option("--state <state>", "only those in this state (default: all)").choices(STATES))
    .addOption(limitOption())
    .option("--cursor <text>", "go on after an earlier page, with its nextCursor")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `\nExamples:\n  ${cli.self} tool-calls list --state waiting\n  ${cli.self} tool-calls list --project shop --json`,
    )
    .action(async (options: ListOptions) => {
      const { runList } = await import("../tool-calls/run-list.ts");
      await runList(cli, options);
    });
  for (const [action, description] of Object.entries(DECISIONS) as [keyof typeof DECISIONS, string][]) {
    toolCalls
      .command(action)
      .description(description)
      .argument("<callId>", "the call; tool-calls list and tickets show show it")
      .option("--yes", "do not ask")
      .addOption(
        new Option(
          "--seen <version>",
          "the version of the ticket that you have looked at; tickets show shows it",
        ).argParser(wholeNumber(0, 2 ** 31 - 1)),
      )
      .addOption(projectOption())
      .addOption(jsonOption())
      .addHelpText(
        "after",
        `${ABOUT_ASKING}\nExamples:\n  ${cli.self} tool-calls ${action} 01890a5d-ac96-774b-bcce-b302099a8057`,
      )
      .action(async (id: string, options: DecideOptions) => {
        const { runDecide } = await import("../tool-calls/run-decide.ts");
        await runDecide(cli, id, options, action);
      });
  }
}

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
  approve: "approve a waiting tool call; the tool is called once",
  reject: "reject a waiting tool call; the tool is not called",
} as const;

const ABOUT_ASKING = `
Shows the tool call and what is waiting, and asks for confirmation. In scripts, use --yes: the decision applies as long as
the customer has not written since the agent requested the call. With --seen, it applies to that version of the ticket.
`;

/** `svc tool-calls list|approve|reject`: calls of agents' tools, and those that wait for an operator. */
export function addToolCalls(program: Command, cli: Cli): void {
  const toolCalls = program
    .command("tool-calls")
    .description("list, approve and reject tool calls of agents")
    .usage("<list|approve|reject> [options]");
  toolCalls
    .command("list")
    .description("list the tool calls of a project's agents, newest first")
    .addOption(new Option("--state <state>", "only tool calls in this state (default: all)").choices(STATES))
    .addOption(limitOption())
    .option("--cursor <text>", "nextCursor of the previous page")
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
      .argument("<callId>", "ID of the tool call, as shown by tool-calls list and tickets show")
      .option("--yes", "skip the confirmation")
      .addOption(
        new Option("--seen <version>", "version of the ticket that you have seen, as shown by tickets show").argParser(
          wholeNumber(0, 2 ** 31 - 1),
        ),
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

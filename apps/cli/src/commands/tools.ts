import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jsonOption, toolsUrlOption } from "../options.ts";
import type { CallOptions } from "../tools/run-call.ts";
import type { ToolsOptions } from "../tools/run-list.ts";

const PROJECT_HELP = "project to work on (an administrator's key can choose)";

/** `svc tools list|call`: the tools of the tool server, as an MCP client sees and calls them. */
export function addTools(program: Command, cli: Cli): void {
  const tools = program
    .command("tools")
    .description("tools of MCP clients: show those that the key may call, call one")
    .usage("<list|call> [options]");
  tools
    .command("list")
    .description("show the tools that the key may call")
    .addOption(toolsUrlOption())
    .option("--project <name>", PROJECT_HELP)
    .addOption(jsonOption())
    .addHelpText("after", `\nExamples:\n  ${cli.self} tools list\n  ${cli.silentSelf} tools list --json`)
    .action(async (options: ToolsOptions) => {
      const { runList } = await import("../tools/run-list.ts");
      await runList(cli, options);
    });
  tools
    .command("call")
    .description("call a tool and show what it answers")
    .argument("<name>", "the tool; tools list shows it")
    .argument("[arguments]", "a JSON object (default: none)")
    .option("--file <path>", "a file with the arguments; - is standard input")
    .addOption(toolsUrlOption())
    .option("--project <name>", PROJECT_HELP)
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Examples:
  ${cli.self} tools call svc_list_agents
  ${cli.self} tools call svc_search_kb '{"query":"How do I send a message over the HTTP API?","limit":3}'
  ${cli.self} tools call svc_summarize_notes --file notes.json --json`,
    )
    .action(async (name: string, word: string | undefined, options: CallOptions) => {
      const { runCall } = await import("../tools/run-call.ts");
      await runCall(cli, name, word, options);
    });
}

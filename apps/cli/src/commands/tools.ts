import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { jsonOption, toolsUrlOption } from "../options.ts";
import type { CallOptions } from "../tools/run-call.ts";
import type { ToolsOptions } from "../tools/run-list.ts";

const PROJECT_HELP = "project to use (requires an administrator's key)";

/** `svc tools list|call`: the tools of the tool server, as an MCP client sees and calls them. */
export function addTools(program: Command, cli: Cli): void {
  const tools = program
    .command("tools")
    .description("list and call the MCP tools that the key can use")
    .usage("<list|call> [options]");
  tools
    .command("list")
    .description("list the tools that the key can use")
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
    .description("call a tool and show the result")
    .argument("<name>", "name of the tool, as shown by tools list")
    .argument("[arguments]", "JSON object with the arguments (default: none)")
    .option("--file <path>", "file with the arguments; - for standard input")
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

import { makeToolsTarget } from "../api-target.ts";
import type { Cli } from "../cli.ts";
import { renderTools } from "./render-tools.ts";
import { withTools } from "./with-tools.ts";

/** Where the tools are that a command looks at. */
export interface ToolsOptions {
  url?: string;
  project?: string;
}

/** `svc tools list`: the tools that the key may call. */
export async function runList(cli: Cli, options: ToolsOptions): Promise<void> {
  const target = await makeToolsTarget(cli, options);
  const { tools } = await withTools(target, (client) => client.listTools());
  cli.terminal.show({ ok: true, items: tools }, () => renderTools(tools, cli.terminal));
}

import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import type { Sealer, StoredTool } from "@svc/store";
import { httpTool } from "./http-tool.ts";
import { createMcpTools } from "./mcp-tools.ts";
import type { CallableTool, OpenedTool } from "./callable-tool.ts";

/** Maximum number of tools of one agent. */
const TOOLS_MAX_COUNT = 100;
/** Maximum length of a name that providers accept. */
const NAME_MAX_CHARS = 64;

/** Returns the callable tools of an agent. */
export type ToolOpener = (tools: readonly OpenedTool[]) => Promise<CallableTool[]>;

/** Makes names unique: long names are cut, duplicates get a number. */
function withUniqueNames(tools: readonly CallableTool[]): CallableTool[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    let name = tool.name.slice(0, NAME_MAX_CHARS);
    for (let number = 2; taken.has(name); number++) {
      const suffix = `_${number}`;
      name = `${tool.name.slice(0, NAME_MAX_CHARS - suffix.length)}${suffix}`;
    }
    taken.add(name);
    return { ...tool, name };
  });
}

/**
 * Creates the function that returns the callable tools of an agent from its tools with decrypted headers: HTTP tools,
 * and those of its MCP servers, whose lists are fetched through the address guard at most once a minute. One per
 * process.
 */
export function createToolOpener({ guard, log }: { guard: AddressGuard; log: Log }): ToolOpener {
  const findMcpTools = createMcpTools({ guard, log });
  return async (tools) => {
    const own = tools.flatMap((tool) => (tool.type === "http" ? [httpTool(tool, guard)] : []));
    const servers = tools.flatMap((tool) => (tool.type === "mcp" ? [findMcpTools(tool)] : []));
    // A server cannot take the name or the position of a tool that the administrator has configured.
    return withUniqueNames([...own, ...(await Promise.all(servers)).flat()].slice(0, TOOLS_MAX_COUNT));
  };
}

/**
 * Decrypts the headers of tools. A tool with a header that cannot be decrypted (it was sealed with another key) is left
 * out.
 */
export function openHeaders(tools: readonly StoredTool[], sealer: Pick<Sealer, "open">): OpenedTool[] {
  return tools.flatMap((tool) => {
    const headers: Record<string, string> = {};
    for (const [name, sealed] of Object.entries(tool.headers)) {
      const value = sealer.open(sealed);
      if (value === null) return [];
      headers[name] = value;
    }
    return [{ ...tool, headers }];
  });
}

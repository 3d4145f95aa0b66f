import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import type { Sealer, StoredTool } from "@svc/store";
import { httpTool } from "./http-tool.ts";
import { createMcpTools } from "./mcp-tools.ts";
import type { CallableTool, OpenedTool } from "./callable-tool.ts";

/** Tools that one agent offers its model at most. */
const TOOLS_MAX_COUNT = 100;
/** What providers take for a name. */
const NAME_MAX_CHARS = 64;

/** Finds what an agent can call. */
export type ToolOpener = (tools: readonly OpenedTool[]) => Promise<CallableTool[]>;

/** Gives each tool a name of its own: what is too long is cut, what is taken gets a number. */
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
 * Makes the function that finds what an agent can call, of its tools with their opened headers: those of HTTP, and those
 * of its MCP servers, which are listed through the address guard at most once a minute. One for a process.
 */
export function createToolOpener({ guard, log }: { guard: AddressGuard; log: Log }): ToolOpener {
  const findMcpTools = createMcpTools({ guard, log });
  return async (tools) => {
    const own = tools.flatMap((tool) => (tool.type === "http" ? [httpTool(tool, guard)] : []));
    const servers = tools.flatMap((tool) => (tool.type === "mcp" ? [findMcpTools(tool)] : []));
    // No server can take the name or the place of a tool that the administrator has written down.
    return withUniqueNames([...own, ...(await Promise.all(servers)).flat()].slice(0, TOOLS_MAX_COUNT));
  };
}

/**
 * Tools with the values of their headers, for their calls. A tool of which one cannot be opened any more (it was sealed
 * with another key) is left out.
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

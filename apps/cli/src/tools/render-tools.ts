import type { Tool } from "@modelcontextprotocol/client";
import { renderTable } from "../render-table.ts";
import { safeLine } from "../safe-text.ts";
import type { Terminal } from "../terminal.ts";

const NAME_CHARS = 60;
const TEXT_CHARS = 400;

/** What a tool is given, each in a line of its own; what may be left out stands in brackets. */
function describeArguments({ inputSchema }: Tool): string {
  const required = new Set(inputSchema.required ?? []);
  return Object.keys(inputSchema.properties ?? {})
    .map((name) => safeLine(required.has(name) ? name : `[${name}]`, NAME_CHARS))
    .join("\n");
}

/** Tools as a table. */
export function renderTools(tools: readonly Tool[], { width }: Terminal): string {
  if (tools.length === 0) return "This key cannot call any tool. Give it a scope such as kb:read or agents:execute.";
  const rows = tools.map((tool) => [
    safeLine(tool.name, NAME_CHARS),
    describeArguments(tool),
    safeLine(tool.description ?? "", TEXT_CHARS),
  ]);
  return renderTable(["NAME", "ARGUMENTS", "DESCRIPTION"], rows, width);
}

import type { AgentTool, HttpTool, McpTool } from "@svc/contracts";

/** Placeholder for a stored secret; if it is sent back, the secret is unchanged (docs/tools-of-agents.md). */
export const MASKED_SECRET = "********";

/** Pattern of a tool's name. */
export const TOOL_NAME = "[a-zA-Z][a-zA-Z0-9_]{0,39}";

/** An edited header: rows keep their position while their names change. */
export interface HeaderRow {
  name: string;
  value: string;
}

/** Returns the headers of a tool as rows. */
export const rowsOf = (headers: Readonly<Record<string, string>>): HeaderRow[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

/** Returns the headers of these rows; rows without a name are omitted. */
export const headersOf = (rows: readonly HeaderRow[]): Record<string, string> =>
  Object.fromEntries(rows.map(({ name, value }) => [name.trim(), value] as const).filter(([name]) => name !== ""));

const NEW_HTTP: HttpTool = {
  type: "http",
  name: "",
  description: "",
  method: "GET",
  url: "",
  parameters: { type: "object", properties: {}, required: [] },
  headers: {},
  body: "none",
  access: "read",
  approval: "auto",
};
const NEW_MCP: McpTool = { type: "mcp", name: "", url: "", headers: {}, allow: null, rules: {} };

/** A new tool, by its kind. */
export const NEW_TOOLS: Record<AgentTool["type"], AgentTool> = { http: NEW_HTTP, mcp: NEW_MCP };

/** Returns the tool with another method and the defaults for that method. */
export function withMethod(tool: HttpTool, method: HttpTool["method"]): HttpTool {
  const access = method === "GET" ? "read" : "write";
  const body = method === "GET" || method === "DELETE" ? "none" : "json";
  return { ...tool, method, body, access, approval: access === "read" ? "auto" : "operator" };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Parses a JSON object; returns null if the text is not one. */
export function readParameters(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    // Not valid yet, because it is still being typed.
    return null;
  }
}

/** Returns the names of the arguments in these parameters. */
export const argumentsOf = ({ properties }: Record<string, unknown>): string[] =>
  isRecord(properties) ? Object.keys(properties) : [];

/** Returns the parameters with each argument in the URL: a required string, unless it is defined already. */
export function withArgumentsOf(url: string, parameters: Record<string, unknown>): Record<string, unknown> {
  const named = [...new Set([...url.matchAll(/\{([\w.-]+)\}/g)].map(([, name = ""]) => name))];
  const known = isRecord(parameters["properties"]) ? parameters["properties"] : {};
  const added = named.filter((name) => !Object.hasOwn(known, name));
  const required = Array.isArray(parameters["required"]) ? (parameters["required"] as unknown[]) : [];
  return {
    ...parameters,
    type: "object",
    properties: { ...known, ...Object.fromEntries(added.map((name) => [name, { type: "string" }])) },
    required: [...required, ...added],
  };
}

/** Parses one name per line; returns null if there is none, which means all. */
export function readNames(text: string): string[] | null {
  const names = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return names.length === 0 ? null : [...new Set(names)];
}

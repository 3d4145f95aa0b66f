import type { AgentTool, HttpTool, McpTool } from "@svc/contracts";

/** What stands for a secret that is set; sent back so, it stays (docs/tools-of-agents.md). */
export const MASKED_SECRET = "********";

/** What a tool's name may be. */
export const TOOL_NAME = "[a-zA-Z][a-zA-Z0-9_]{0,39}";

/** A header as it is edited: rows keep their place while their names change. */
export interface HeaderRow {
  name: string;
  value: string;
}

/** The headers of a tool as rows. */
export const rowsOf = (headers: Readonly<Record<string, string>>): HeaderRow[] =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

/** The headers of these rows; rows without a name are none. */
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

/** A tool that nothing was said of yet, by its kind. */
export const NEW_TOOLS: Record<AgentTool["type"], AgentTool> = { http: NEW_HTTP, mcp: NEW_MCP };

/** What follows from the method of a request, where nothing else was said. */
export function withMethod(tool: HttpTool, method: HttpTool["method"]): HttpTool {
  const access = method === "GET" ? "read" : "write";
  const body = method === "GET" || method === "DELETE" ? "none" : "json";
  return { ...tool, method, body, access, approval: access === "read" ? "auto" : "operator" };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The JSON object that was typed; null where it is none. */
export function readParameters(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    // Not yet: it is being typed.
    return null;
  }
}

/** Names of the arguments in these parameters. */
export const argumentsOf = ({ properties }: Record<string, unknown>): string[] =>
  isRecord(properties) ? Object.keys(properties) : [];

/** The parameters with each argument that the URL names: a text that must be given, where nothing else is said of it. */
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

/** One name a line; null where there is none: all are meant. */
export function readNames(text: string): string[] | null {
  const names = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return names.length === 0 ? null : [...new Set(names)];
}

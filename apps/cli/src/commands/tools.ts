import type { CallToolResult, Client, Tool } from "@modelcontextprotocol/client";
import { LIMITS } from "@svc/contracts";
import { z } from "zod";
import { EXIT_OF_STATUS, makeToolsTarget, notRunning, requireSendableKey } from "../api-client.ts";
import type { ApiTarget } from "../api-client.ts";
import { CliError, EXIT, failure, usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { defineCommand } from "../define-command.ts";
import { option, toolsUrlOption } from "../options.ts";
import { readInput } from "../read-input.ts";
import { renderTable } from "../render-table.ts";
import { safeLine, safeText } from "../terminal.ts";
import type { Terminal } from "../terminal.ts";

const NAME_CHARS = 60;
const TEXT_CHARS = 400;

const PATH = "/mcp";
/** Protocol revision of this version's tool server, which is stateless. */
const REVISION = "2026-07-28";

const problemSchema = z.object({ code: z.string(), detail: z.string(), requestId: z.string().optional() });

/** Returns the error of an HTTP response of the product, before any tool is called; null for every other response. */
async function findProblem(response: Response): Promise<CliError | null> {
  if (response.ok || response.headers.get("content-type")?.startsWith("application/problem+json") !== true) return null;
  const problem = problemSchema.safeParse(await response.json());
  if (!problem.success) return null;
  const { code, detail, requestId } = problem.data;
  const trace = response.status >= 500 && requestId !== undefined ? ` (request ${requestId})` : "";
  return new CliError(code, EXIT_OF_STATUS[response.status] ?? EXIT.failed, `${detail}${trace}`);
}

function notThisServer({ url }: ApiTarget, cause: unknown): CliError {
  const message = `The server at ${url}${PATH} is not the tool server of this version. Check --url and SVC_TOOLS_PORT.`;
  return new CliError("not_this_product", EXIT.notRunning, message, { cause });
}

/** Uses a connection to the tool server. Throws CliError for every error, with what to do. */
async function withTools<Result>(target: ApiTarget, use: (client: Client) => Promise<Result>): Promise<Result> {
  requireSendableKey(target);
  // The library only reports that an exchange has failed.
  let known: CliError | null = null;
  const explained = async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    let response: Response;
    try {
      response = await fetch(url, { ...init, redirect: "error" });
    } catch (error) {
      known = notRunning(target, error);
      throw error;
    }
    const problem = await findProblem(response);
    if (problem === null) return response;
    // The HTTP API and the widget respond that the path is unknown; the tool server, that the project is.
    const isElsewhere = response.status === 404 && target.project === undefined;
    known = isElsewhere ? notThisServer(target, problem) : problem;
    throw known;
  };
  const {
    Client: McpClient,
    ProtocolError,
    StreamableHTTPClientTransport,
  } = await import("@modelcontextprotocol/client");
  const { url, key, project } = target;
  const transport = new StreamableHTTPClientTransport(new URL(PATH, url), {
    requestInit: { headers: { "X-Api-Key": key, ...(project === undefined ? {} : { "x-svc-project": project }) } },
    fetch: explained,
  });
  const client = new McpClient({ name: "svc", version: "1" }, { versionNegotiation: { mode: { pin: REVISION } } });
  let isConnected = false;
  try {
    await client.connect(transport);
    isConnected = true;
    return await use(client);
  } catch (error) {
    if (known !== null) throw known;
    if (error instanceof ProtocolError && isConnected) throw failure("refused", error.message, { cause: error });
    throw error instanceof CliError ? error : notThisServer(target, error);
  } finally {
    await client.close();
  }
}

/** Arguments of a tool, one per line; optional ones are in brackets. */
function describeArguments({ inputSchema }: Tool): string {
  const required = new Set(inputSchema.required ?? []);
  return Object.keys(inputSchema.properties ?? {})
    .map((name) => safeLine(required.has(name) ? name : `[${name}]`, NAME_CHARS))
    .join("\n");
}

function renderTools(tools: readonly Tool[], { width }: Terminal): string {
  if (tools.length === 0) return "This key cannot call any tool. Give it a scope such as kb:read or agents:execute.";
  const rows = tools.map((tool) => [
    safeLine(tool.name, NAME_CHARS),
    describeArguments(tool),
    safeLine(tool.description ?? "", TEXT_CHARS),
  ]);
  return renderTable(["NAME", "ARGUMENTS", "DESCRIPTION"], rows, width);
}

const TARGET = {
  url: toolsUrlOption,
  project: option("--project <name>", "project to use (requires an administrator's key)"),
};

const list = defineCommand({
  description: "list the tools that the key can use",
  options: TARGET,
  examples: ["tools list", "{silent} tools list --json"],
  async run(cli, input) {
    const { tools: items } = await withTools(await makeToolsTarget(cli, input), (client) => client.listTools());
    cli.terminal.show({ ok: true, items }, () => renderTools(items, cli.terminal));
  },
});

/** Time limit of a call: an agent may call its model and its tools several times. */
const TIME_LIMIT_MS = 10 * 60_000;

/** Where a failed result of this product has its error code. */
const errorSchema = z.object({ "svc/error": z.object({ code: z.string() }) });

function notAnObject({ self }: Cli, cause: unknown): CliError {
  const example = `${self} tools call svc_search_kb '{"query":"opening hours"}'`;
  return usageError(`The arguments must be a JSON object, as in: ${example}`, { cause });
}

/** Reads the arguments of a call from the command line, or from a file or standard input. */
async function readArguments(
  cli: Cli,
  word: string | undefined,
  file: string | undefined,
): Promise<Record<string, unknown>> {
  if (word !== undefined && file !== undefined) {
    throw usageError("Pass the arguments either on the command line or with --file, not both.");
  }
  if (word === undefined && file === undefined) return {};
  const what = { what: "the arguments", maxBytes: LIMITS.bodyMaxBytes };
  const text = word ?? new TextDecoder().decode(await readInput(cli, file, what));
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    throw notAnObject(cli, error);
  }
  const object = z.record(z.string(), z.unknown()).safeParse(read);
  if (!object.success) throw notAnObject(cli, object.error);
  return object.data;
}

const textOf = ({ content }: CallToolResult) =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** Returns the error of a tool; its text names invalid arguments. */
function toolFailed(cli: Cli, name: string, result: CallToolResult): CliError {
  const error = errorSchema.safeParse(result._meta);
  const code = error.success ? error.data["svc/error"].code : "tool_failed";
  const text = textOf(result);
  const detail = text.startsWith(`${code}: `) ? text.slice(`${code}: `.length) : text;
  const advice = code === "invalid_request" ? `\nArguments of ${safeLine(name)}: ${cli.self} tools list --json` : "";
  return failure(code, `${detail}${advice}`);
}

const call = defineCommand({
  description: "call a tool and show the result",
  args: {
    "<name>": "name of the tool, as shown by tools list",
    "[arguments]": "JSON object with the arguments (default: none)",
  },
  options: { file: option("--file <path>", "file with the arguments; - for standard input"), ...TARGET },
  examples: [
    "tools call svc_list_agents",
    `tools call svc_search_kb '{"query":"How do I send a message over the HTTP API?","limit":3}'`,
    "tools call svc_summarize_notes --file notes.json --json",
  ],
  async run(cli, { name, arguments: word, file, ...options }) {
    const input = await readArguments(cli, word, file);
    const target = await makeToolsTarget(cli, options);
    const { terminal } = cli;
    // The progress of a slow call is shown in the status line.
    const onprogress = ({ message }: { message?: string | undefined }) =>
      terminal.status(message === undefined ? null : safeLine(message));
    try {
      const result = await withTools(target, (client) =>
        client.callTool({ name, arguments: input }, { timeout: TIME_LIMIT_MS, onprogress }),
      );
      terminal.status(null);
      if (result.isError === true) throw toolFailed(cli, name, result);
      terminal.show({ ok: true, tool: name, result: result.structuredContent ?? result.content }, () =>
        safeText(textOf(result)),
      );
    } finally {
      terminal.status(null);
    }
  },
});

/** `svc tools`: tools of the tool server, as an MCP client lists and calls them. */
export const tools = defineCommand({ usage: "<list|call> [options]", commands: { list, call } });

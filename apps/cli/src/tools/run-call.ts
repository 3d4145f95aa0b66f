import type { CallToolResult } from "@modelcontextprotocol/client";
import { LIMITS } from "@svc/contracts";
import { z } from "zod";
import { makeToolsTarget } from "../api-target.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { readInput } from "../read-input.ts";
import { safeLine, safeText } from "../safe-text.ts";
import type { ToolsOptions } from "./run-list.ts";
import { withTools } from "./with-tools.ts";

/** What `tools call` is told. */
export interface CallOptions extends ToolsOptions {
  file?: string;
}

/** An agent may call its model and its tools several times. */
const PATIENCE_MS = 10 * 60_000;

/** Where a failed result of this product tells programs what is wrong. */
const faultSchema = z.object({ "svc/error": z.object({ code: z.string() }) });

/** The arguments of a call: the word of the command line, else what a file has, else standard input where asked for. */
async function readArguments(
  cli: Cli,
  word: string | undefined,
  file: string | undefined,
): Promise<Record<string, unknown>> {
  if (word !== undefined && file !== undefined) {
    throw new CliError("usage", EXIT.usage, "Pass the arguments either on the command line or with --file, not both.");
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

function notAnObject({ self }: Cli, cause: unknown): CliError {
  const example = `${self} tools call svc_search_kb '{"query":"opening hours"}'`;
  return new CliError("usage", EXIT.usage, `The arguments must be a JSON object, as in: ${example}`, { cause });
}

const textOf = ({ content }: CallToolResult) =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** The failure of a tool, in its own words; they name the arguments that are wrong. */
function toolFailed(cli: Cli, name: string, result: CallToolResult): CliError {
  const fault = faultSchema.safeParse(result._meta);
  const code = fault.success ? fault.data["svc/error"].code : "tool_failed";
  const text = textOf(result);
  const said = text.startsWith(`${code}: `) ? text.slice(`${code}: `.length) : text;
  const advice = code === "invalid_request" ? `\nArguments of ${safeLine(name)}: ${cli.self} tools list --json` : "";
  return new CliError(code, EXIT.failed, `${said}${advice}`);
}

/**
 * `svc tools call`: calls a tool as an MCP client does, and shows what it answers. What a slow call tells of itself stands
 * on the line below while a person watches.
 */
export async function runCall(
  cli: Cli,
  name: string,
  word: string | undefined,
  { file, ...options }: CallOptions,
): Promise<void> {
  const input = await readArguments(cli, word, file);
  const target = await makeToolsTarget(cli, options);
  const { terminal } = cli;
  try {
    const result = await withTools(target, (client) =>
      client.callTool(
        { name, arguments: input },
        {
          timeout: PATIENCE_MS,
          onprogress: ({ message }) => terminal.status(message === undefined ? null : safeLine(message)),
        },
      ),
    );
    terminal.status(null);
    if (result.isError === true) throw toolFailed(cli, name, result);
    terminal.show({ ok: true, tool: name, result: result.structuredContent ?? result.content }, () =>
      safeText(textOf(result)),
    );
  } finally {
    terminal.status(null);
  }
}

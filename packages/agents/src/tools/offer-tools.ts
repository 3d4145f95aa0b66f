import { createHash } from "node:crypto";
import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import type { Sealer, StoredTool } from "@svc/store";
import type { ChatTool } from "../models/language-model.ts";
import { bindArguments, checkArguments } from "./check-arguments.ts";
import type { ToolCustomer } from "./check-arguments.ts";
import type { CallableTool, ToolOutcome, OpenedTool } from "./callable-tool.ts";
import { canonicalJson } from "./callable-tool.ts";
import { httpTool } from "./http-tool.ts";
import { createMcpTools } from "./mcp-tools.ts";

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

/** Maximum number of tool calls per message. */
const CALLS_MAX_COUNT = 20;

/** A call that a model has requested, with validated arguments. */
export interface RequestedCall {
  tool: CallableTool;
  arguments: Record<string, unknown>;
  /** Equal for the same tool and arguments. */
  key: string;
  /** Number of equal calls before it: always 0 for a call that writes, since that is made once. */
  occurrence: number;
}

/** Decides about each call, makes the allowed ones, and returns the result for the model. */
type ToolCallHandler = (call: RequestedCall, signal: AbortSignal) => Promise<string>;

/** Returns the result of a call for the model. */
export function outcomeText({ state, text }: ToolOutcome): string {
  return state === "done" ? text : `${state === "failed" ? "The call failed." : "The call was aborted."}\n${text}`;
}

/**
 * Offers tools to a model: validates the arguments, adds the bound ones of this customer, and leaves the rest to the
 * handler. `onRefused` is called for calls that are rejected for this customer. Equal calls that write are made once,
 * also if requested concurrently. The tools reject only if the handler does.
 */
export function offerTools(
  tools: readonly CallableTool[],
  handleCall: ToolCallHandler,
  { customer, onRefused }: { customer: ToolCustomer; onRefused: (tool: CallableTool, refusal: string) => void },
): ChatTool[] {
  const occurrences = new Map<string, number>();
  const writes = new Map<string, Promise<string>>();
  let count = 0;

  function ask(tool: CallableTool, input: Record<string, unknown>, signal: AbortSignal): Promise<string> {
    const key = createHash("sha256")
      .update(canonicalJson([tool.mark, tool.name, input]))
      .digest("hex");
    const isRead = tool.access === "read";
    const asked = isRead ? undefined : writes.get(key);
    if (asked !== undefined) return asked;
    const occurrence = isRead ? (occurrences.get(key) ?? 0) : 0;
    occurrences.set(key, occurrence + 1);
    const answer = handleCall({ tool, arguments: input, key, occurrence }, signal);
    if (!isRead) writes.set(key, answer);
    return answer;
  }

  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    async execute(input, { signal }) {
      count++;
      if (count > CALLS_MAX_COUNT)
        return "Not called: too many calls for this message. Answer with the results so far.";
      const checked = await checkArguments(tool.parameters, input);
      if ("problem" in checked) return `Not called: ${checked.problem}.`;
      const bound = bindArguments(tool, customer, checked.arguments);
      if ("arguments" in bound) return ask(tool, bound.arguments, signal);
      onRefused(tool, bound.refusal);
      return bound.refusal;
    },
  }));
}

/** Handles the tool calls of a question without a ticket: makes only read-only calls. */
export const handleReadOnlyCalls: ToolCallHandler = async ({ tool, arguments: input, key }, signal) => {
  if (tool.access === "write") return "Not called: tools that change something require a ticket.";
  if (tool.approval === "operator") return "Not called: an operator must approve this call, which requires a ticket.";
  return outcomeText(await tool.call(input, { callId: key, signal }));
};

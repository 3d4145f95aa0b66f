import { createHash } from "node:crypto";
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { TOOL_LIMITS } from "@svc/contracts";
import type { McpTool, ToolAccess } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import { defuseText, containsInstructions } from "../grounded/answer-prompt.ts";
import { findUnboundIdentifiers, withoutBound } from "./check-arguments.ts";
import type { CallableTool, ToolOutcome } from "./callable-tool.ts";
import { canonicalJson, markOfRemoteTool, toolText } from "./callable-tool.ts";
import { McpCallError, callMcpTool, listMcpTools } from "./connect-mcp.ts";
import type { McpListing, McpPrior } from "./connect-mcp.ts";

/** Cache time of a server's list, and the pause before an unreachable server is contacted again. */
const LIST_MS = 60_000;
const FAILURE_REST_MS = 30_000;
/** Maximum number of servers with a cached list. */
const SERVERS_MAX_COUNT = 200;
/** Maximum number of bytes of a list that are read and cached; a list may have 10 MB. */
const READ_MAX_BYTES = 512 * 1024;
/** Maximum number of tools of one server for one agent. */
const TOOLS_MAX_COUNT = 64;
/** Maximum size of the descriptions of one server's tools, in bytes: the model reads all of it with each question. */
const SHOWN_MAX_BYTES = 64 * 1024;
const DESCRIPTION_MAX_CHARS = 1_000;

type Content = CallToolResult["content"][number];

/** Returns a description of each kind of content; bytes are described, not included. */
function contentText(content: Content): string {
  switch (content.type) {
    case "text":
      return content.text;
    case "resource":
      return "text" in content.resource ? content.resource.text : `(a file: ${content.resource.uri})`;
    case "resource_link":
      return `(a link: ${content.uri})`;
    default:
      return `(${content.type} that is not shown)`;
  }
}

function outcomeOf(result: CallToolResult): ToolOutcome {
  const texts = result.content.map(contentText).filter((text) => text !== "");
  const text =
    texts.length > 0 || result.structuredContent === undefined
      ? texts.join("\n")
      : JSON.stringify(result.structuredContent);
  return { state: result.isError === true ? "failed" : "done", text };
}

const sizeOf = (tool: Tool) => Buffer.byteLength(JSON.stringify(tool));

/**
 * Returns whether a server's schema may be shown to a model: small, not deeply nested, and without invisible
 * characters.
 */
function isModest(schema: unknown): boolean {
  const open: [value: unknown, level: number][] = [[schema, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, level] = next;
    if (typeof value !== "object" || value === null) continue;
    if (level > TOOL_LIMITS.parametersMaxDepth) return false;
    for (const child of Object.values(value)) open.push([child, level + 1]);
  }
  const text = JSON.stringify(schema);
  return Buffer.byteLength(text) <= TOOL_LIMITS.parametersMaxBytes && defuseText(text, text.length) === text;
}

/** Returns a server's description of a tool on one line, cut and sanitized. */
const lineOf = ({ name, title = name, description = title }: Tool) =>
  defuseText(description.slice(0, 2 * DESCRIPTION_MAX_CHARS).replaceAll(/\p{Cc}+/gu, " "), DESCRIPTION_MAX_CHARS);

/**
 * Returns whether a server's description of a tool is free of instructions to a model, which reads it as part of its
 * task; a tool with instructions is not offered. Underscores in names separate words.
 */
function isInnocent(tool: Tool): boolean {
  const said = `${tool.name} ${lineOf(tool)} ${JSON.stringify(tool.inputSchema)}`;
  return !containsInstructions(said) && !containsInstructions(said.replaceAll(/[_-]+/g, " "));
}

/** Returns the tools of a list that can be offered, with only the fields that calls need, up to the size limit. */
function pickTools(tools: readonly Tool[]): Tool[] {
  let readBytes = 0;
  const picked: Tool[] = [];
  for (const tool of tools) {
    const { name, inputSchema, annotations } = tool;
    if (name.length > TOOL_LIMITS.remoteNameMaxChars || !isModest(inputSchema)) continue;
    const shown = { name, inputSchema, description: lineOf(tool) };
    readBytes += sizeOf(shown);
    if (readBytes > READ_MAX_BYTES) break;
    if (isInnocent(shown)) picked.push({ ...shown, annotations: { readOnlyHint: annotations?.readOnlyHint === true } });
  }
  return picked;
}

/** Returns the first tools whose descriptions fit the limit for the model. */
function firstTools(tools: readonly Tool[]): Tool[] {
  let sizeBytes = 0;
  return tools
    .filter((tool) => {
      const toolBytes = sizeOf(tool);
      if (sizeBytes + toolBytes > SHOWN_MAX_BYTES) return false;
      sizeBytes += toolBytes;
      return true;
    })
    .slice(0, TOOLS_MAX_COUNT);
}

/** Returns the access of a tool: it writes unless the configuration or the server declares it read-only. */
function accessOf({ rules }: McpTool, { name, annotations }: Tool): ToolAccess {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  return rule?.access ?? (annotations?.readOnlyHint === true ? "read" : "write");
}

/** Creates a callable tool from a tool of a server. */
function callable(server: McpTool, tool: Tool, prior: McpPrior, guard: AddressGuard): CallableTool {
  const { name, rules, headers, url } = server;
  const access = accessOf(server, tool);
  const rule = Object.hasOwn(rules, tool.name) ? rules[tool.name] : undefined;
  const isRead = access === "read";
  const bind = rule?.bind ?? {};
  const identifiers = findUnboundIdentifiers(tool.inputSchema, bind);
  return {
    name: `${name}_${tool.name.replaceAll(/[^a-zA-Z0-9_-]/g, "_")}`,
    description: lineOf(tool),
    parameters: withoutBound(tool.inputSchema, bind),
    access,
    approval: rule?.approval ?? (isRead ? "auto" : "operator"),
    bind,
    anonymous: rule?.anonymous ?? (identifiers.length > 0 ? "refuse" : "allow"),
    mark: markOfRemoteTool(server, tool.name),

    async call(input, { callId, signal }) {
      try {
        const result = await callMcpTool(
          { url, headers },
          { tool, input, headers: isRead ? {} : { "idempotency-key": callId } },
          { guard, signal, prior },
        );
        const { state, text } = outcomeOf(result);
        return { state, text: toolText(text, headers) };
      } catch (error) {
        if (!(error instanceof McpCallError)) throw error;
        if (isRead) signal.throwIfAborted();
        const text = toolText(error.message, headers);
        if (isRead || !error.wasSent) return { state: "failed", text };
        return { state: "unknown", text: `${text}\nIt is unknown whether the call took effect.` };
      }
    },
  };
}

/** A cached list; an error is cached too, so that it does not delay every call. */
interface KeptList {
  until: number;
  listing: Promise<McpListing | null>;
}

/**
 * Creates the function that returns the tools of an MCP server that an agent may use. Lists are cached for a minute; an
 * unreachable server has no tools, and a warning is logged.
 */
export function createMcpTools({ guard, log }: { guard: AddressGuard; log: Log }) {
  const kept = new Map<string, KeptList>();

  function list(server: McpTool): Promise<McpListing | null> {
    const { url, headers } = server;
    const key = createHash("sha256")
      .update(canonicalJson([url, headers]))
      .digest("hex");
    const known = kept.get(key);
    if (known !== undefined && known.until > performance.now()) return known.listing;
    const entry: KeptList = { until: performance.now() + LIST_MS, listing: Promise.resolve(null) };
    // Callers share the response, so that one that aborts does not end it.
    entry.listing = listMcpTools({ url, headers }, { guard }).then(
      ({ tools, prior }) => {
        const picked = pickTools(tools);
        const leftOut = tools.length - picked.length;
        if (leftOut > 0) log.info({ server: server.name, leftOut }, "some tools of an MCP server were rejected");
        return { tools: picked, prior };
      },
      (error: unknown) => {
        entry.until = performance.now() + FAILURE_REST_MS;
        // The server's response may echo what it was sent.
        const problem = error instanceof Error ? toolText(error.message, headers).slice(0, 300) : "unknown error";
        log.warn({ server: server.name, fault: problem }, "failed to list the tools of an MCP server");
        return null;
      },
    );
    kept.delete(key);
    kept.set(key, entry);
    const [oldest] = kept.keys();
    if (kept.size > SERVERS_MAX_COUNT && oldest !== undefined) kept.delete(oldest);
    return entry.listing;
  }

  return async function findMcpTools(server: McpTool): Promise<CallableTool[]> {
    const listing = await list(server);
    if (listing === null) return [];
    const allowed = listing.tools.filter(({ name }) => server.allow?.includes(name) ?? true);
    return firstTools(allowed).map((tool) => callable(server, tool, listing.prior, guard));
  };
}

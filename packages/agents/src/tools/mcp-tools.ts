import { createHash } from "node:crypto";
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { TOOL_LIMITS } from "@svc/contracts";
import type { McpTool, ToolAccess } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import { defuseText } from "../grounded/fence.ts";
import { givesOrders } from "../grounded/gives-orders.ts";
import { findUnboundIdentifiers, withoutBound } from "./bound-arguments.ts";
import type { CallableTool, ToolOutcome } from "./callable-tool.ts";
import { canonicalJson, markOfRemoteTool } from "./callable-tool.ts";
import { McpCallError, callMcpTool, listMcpTools } from "./connect-mcp.ts";
import type { McpListing, McpPrior } from "./connect-mcp.ts";
import { toolText } from "./tool-text.ts";

/** How long the list of a server is valid, and how long an unreachable server is not asked again. */
const LIST_MS = 60_000;
const FAILURE_REST_MS = 30_000;
/** Servers whose lists are kept. */
const SERVERS_MAX_COUNT = 200;
/** Bytes of one list that are looked at and kept: it may have 10 MB. */
const READ_MAX_BYTES = 512 * 1024;
/** Tools that one agent has of one server. */
const TOOLS_MAX_COUNT = 64;
/** Bytes of what a model is shown of the tools of one server: it reads all of it with each question. */
const SHOWN_MAX_BYTES = 64 * 1024;
const DESCRIPTION_MAX_CHARS = 1_000;

type Content = CallToolResult["content"][number];

/** Description of each kind of content; bytes are described, not shown. */
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

/** Whether a schema of a server may be given to a model: small, not deep, and without texts that only machines see. */
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

/** What a server says of a tool, on one line, cut, and without what only machines see. */
const lineOf = ({ name, title = name, description = title }: Tool) =>
  defuseText(description.slice(0, 2 * DESCRIPTION_MAX_CHARS).replaceAll(/\p{Cc}+/gu, " "), DESCRIPTION_MAX_CHARS);

/**
 * Whether what a server says of a tool can be shown to a model, which reads it as a part of its task: what gives orders
 * there is not offered at all. Names have their words between underlines.
 */
function isInnocent(tool: Tool): boolean {
  const said = `${tool.name} ${lineOf(tool)} ${JSON.stringify(tool.inputSchema)}`;
  return !givesOrders(said) && !givesOrders(said.replaceAll(/[_-]+/g, " "));
}

/** The tools of a list that can be offered, with nothing but what calls need: of so much of it as is looked at. */
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

/** The first tools of which a model is shown no more than it can read besides its task. */
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

/** Whether a tool changes anything: unless the configuration or the server says that it only reads, it does. */
function accessOf({ rules }: McpTool, { name, annotations }: Tool): ToolAccess {
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  return rule?.access ?? (annotations?.readOnlyHint === true ? "read" : "write");
}

/** Makes a tool of one that a server has. */
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

/** A list that is kept for a while; an error is kept too, so that it does not delay every call. */
interface KeptList {
  until: number;
  listing: Promise<McpListing | null>;
}

/**
 * Makes the function that finds the tools of an MCP server that an agent may have. Lists are kept for a minute; a
 * server that cannot be reached has no tools, which the log says.
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
    // Callers share the response, so that one that leaves does not end it.
    entry.listing = listMcpTools({ url, headers }, { guard }).then(
      ({ tools, prior }) => {
        const picked = pickTools(tools);
        const leftOut = tools.length - picked.length;
        if (leftOut > 0) log.info({ server: server.name, leftOut }, "some tools of an MCP server were rejected");
        return { tools: picked, prior };
      },
      (error: unknown) => {
        entry.until = performance.now() + FAILURE_REST_MS;
        // What the server has answered may hold what it was sent.
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

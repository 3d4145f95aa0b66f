import { createHash } from "node:crypto";
import { BlockedAddressError, OutboundConnectionError } from "@svc/outbound";
import type { AgentTool, ArgumentSource, ToolAccess, ToolApproval, HttpTool, McpTool } from "@svc/contracts";

/** Maximum size of a result for the model, in bytes. */
export const RESULT_MAX_BYTES = 64 * 1024;
/** Minimum length of a secret: a shorter value would match in many texts. */
const SECRET_MIN_CHARS = 6;

const MASK = "********";

/** Returns the beginning of a text, in bytes of UTF-8, without splitting a character. */
function beginningOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/\ufffd+$/, "");
}

/** Authentication schemes in a header, which are not secret. */
const SCHEMES: ReadonlySet<string> = new Set(["bearer", "digest"]);

/** Returns the user and the password of `Basic` credentials. */
function basicPartsOf(value: string): string[] {
  const [, coded] = /^basic\s+(\S+)$/i.exec(value) ?? [];
  if (coded === undefined) return [];
  const pair = Buffer.from(coded, "base64").toString();
  return [pair, pair.slice(pair.indexOf(":") + 1)];
}

/** Returns the secret parts of a header's value: the value, the token after `Bearer`, a password. */
const partsOf = (value: string) =>
  [value, ...value.split(/\s+/), ...basicPartsOf(value)].filter(
    (part) => part.length >= SECRET_MIN_CHARS && !SCHEMES.has(part.toLowerCase()),
  );

/** Returns the spellings of a secret: verbatim, in a JSON string, and in a URL. */
const spellingsOf = (secret: string) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];

/**
 * Sanitizes a server's text so that it may be stored, shown and given to a model: well-formed, without NUL, at most 64
 * KB, and without the values of the headers that were sent, in case it echoes them.
 */
export function toolText(text: string, headers: Readonly<Record<string, string>>): string {
  const secrets = Object.values(headers)
    .flatMap(partsOf)
    .flatMap(spellingsOf)
    .toSorted((one, other) => other.length - one.length);
  let clean = text.toWellFormed().replaceAll("\u0000", "\ufffd");
  for (const secret of secrets) clean = clean.replaceAll(secret, MASK);
  const cut = beginningOf(clean, RESULT_MAX_BYTES);
  return cut.length === clean.length ? cut : `${cut}\n(cut off here)`;
}

/** Properties of a tool that define its calls. */
type ToolFacts =
  | Pick<HttpTool, "type" | "name" | "method" | "url" | "parameters" | "body" | "bind">
  | Pick<McpTool, "type" | "name" | "url">;

/** Error codes of Node for a connection that was never made. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** A tool of an agent with decrypted headers, which leave this process only in its calls. */
export type OpenedTool = AgentTool;

/** Result of a call: `unknown` if it may or may not have been made. `text` is untrusted data. */
export interface ToolOutcome {
  state: "done" | "failed" | "unknown";
  text: string;
}

/** A tool that can be called: an HTTP tool, or one of an MCP server. */
export interface CallableTool {
  /** `[a-zA-Z0-9_-]{1,64}`, unique in its agent. */
  name: string;
  description: string;
  /** JSON Schema of the arguments that a model chooses: an object. */
  parameters: Record<string, unknown>;
  access: ToolAccess;
  approval: ToolApproval;
  /** Arguments that the service sets, by name. */
  bind: Readonly<Record<string, ArgumentSource>>;
  /** Whether anonymous customers can cause calls without an operator's approval. */
  anonymous: "allow" | "refuse";
  /** Changes whenever the effect of a call may have changed. */
  mark: string;
  /**
   * Calls the tool with validated arguments. Rejects only with the signal's reason. `callId` is sent with a call that
   * writes, so that the server can detect a repetition.
   */
  call(input: Record<string, unknown>, options: { callId: string; signal: AbortSignal }): Promise<ToolOutcome>;
}

/** Returns whether a request that has thrown was never sent, so that it cannot have had an effect. */
export function wasNeverSent(error: unknown): boolean {
  if (error instanceof BlockedAddressError) return true;
  return error instanceof OutboundConnectionError && NEVER_CONNECTED.has(error.errorCode);
}

function factsOf(tool: ToolFacts): unknown[] {
  if (tool.type === "mcp") return [tool.type, tool.name, tool.url];
  const facts = [tool.type, tool.name, tool.method, tool.url, tool.parameters, tool.body];
  // Tools without bindings keep the mark they had before bindings existed.
  return Object.keys(tool.bind ?? {}).length === 0 ? facts : [...facts, tool.bind];
}

/**
 * Returns a hexadecimal text that is equal while a tool does the same: approvals and recorded calls are matched by it.
 * Its description, its headers and its approval rule are not included.
 */
export function markOfTool(tool: ToolFacts): string {
  return createHash("sha256")
    .update(canonicalJson(factsOf(tool)))
    .digest("hex")
    .slice(0, 32);
}

/** Returns the mark of one tool of an MCP server. */
export function markOfRemoteTool(server: ToolFacts, remoteName: string): string {
  return `${markOfTool(server)}:${remoteName}`;
}

/** Returns whether a mark is that of this tool, or of a tool of this MCP server. */
export function isMarkOf(tool: ToolFacts, mark: string): boolean {
  const own = markOfTool(tool);
  return mark === own || (tool.type === "mcp" && mark.startsWith(`${own}:`));
}

/** Returns JSON with sorted object keys: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const fields = Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(fields);
  });
}

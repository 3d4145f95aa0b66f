import { z } from "zod";
import { FRAMING_HEADERS } from "./framing-headers.ts";
import { MASKED_SECRET } from "./secret.ts";
import { parseUrl } from "./parse-url.ts";
import { isMalformedText, messageText, wellFormedString } from "./well-formed.ts";

/** Bounds of the tools of agents. Characters are Unicode code points unless bytes are said. */
export const TOOL_LIMITS = {
  /** Tools of one agent; an MCP server counts as one. */
  toolsMaxCount: 20,
  nameMaxChars: 40,
  descriptionMaxChars: 2_000,
  urlMaxChars: 2_000,
  headersMaxCount: 20,
  headerNameMaxChars: 100,
  headerValueMaxChars: 4_000,
  /** Of the JSON Schema of a tool's arguments: bytes as JSON, and levels of nesting. */
  parametersMaxBytes: 16 * 1024,
  parametersMaxDepth: 16,
  /** Tools of an MCP server that can be named, and characters of each name. */
  remoteToolsMaxCount: 100,
  remoteNameMaxChars: 128,
} as const;

const toolNameError = `a letter, then letters, digits and _, at most ${TOOL_LIMITS.nameMaxChars} characters`;
const toolNameSchema = z
  .string()
  .regex(/^[a-zA-Z][a-zA-Z0-9_]{0,39}$/, { error: toolNameError })
  .describe("By which the model knows it; unique in its agent.");

/** Whether a call changes anything at the other end. */
export const toolAccessSchema = z.enum(["read", "write"], { error: "read or write" });
export type ToolAccess = z.infer<typeof toolAccessSchema>;

/** Whether a call is made at once, or waits for an operator. */
export const toolApprovalSchema = z.enum(["auto", "operator"], { error: "auto or operator" });
export type ToolApproval = z.infer<typeof toolApprovalSchema>;

/** What the service itself can put into an argument. Only what is proven: see docs/tools-of-agents.md. */
export const ARGUMENT_SOURCES = ["customer.userId", "customer.email", "ticket.id", "chat.id"] as const;
export type ArgumentSource = (typeof ARGUMENT_SOURCES)[number];

const bindSchema = z
  .record(z.string(), z.enum(ARGUMENT_SOURCES, { error: `one of ${ARGUMENT_SOURCES.join(", ")}` }))
  .describe("By the name of an argument, what the service puts into it: the model neither sees nor chooses it.");

const anonymousSchema = z
  .enum(["allow", "refuse"], { error: "allow or refuse" })
  .describe(
    "Whether customers who have not proven who they are can cause calls that no operator approves. Default: `refuse` if an argument that identifies something is not bound, else `allow`.",
  );

export const TOOL_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const methodSchema = z.enum(TOOL_METHODS, { error: `one of ${TOOL_METHODS.join(", ")}` });
export type ToolMethod = z.infer<typeof methodSchema>;

/** Set by the request itself, or what would reach another end than the tool's. */
const OWN_HEADERS: ReadonlySet<string> = new Set([...FRAMING_HEADERS, "idempotency-key"]);

const HEADER_NAME = /^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,100}$/;
// What HTTP carries: visible characters of Latin-1, blanks and tabs.
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

const headersSchema = z
  .record(z.string(), z.string())
  .superRefine((headers, context) => {
    const fault = (path: string[], code: string, message: string) =>
      context.addIssue({ code: "custom", path, message, params: { code } });
    const names = Object.keys(headers);
    if (names.length > TOOL_LIMITS.headersMaxCount) {
      fault([], "too_many", `at most ${TOOL_LIMITS.headersMaxCount} headers`);
    }
    const known = new Set<string>();
    for (const [name, value] of Object.entries(headers)) {
      const lower = name.toLowerCase();
      if (!HEADER_NAME.test(name)) fault([name], "invalid_name", "is no name of an HTTP header");
      else if (OWN_HEADERS.has(lower)) fault([name], "not_allowed", "is set by the service itself");
      if (known.has(lower)) fault([name], "taken", "stands there twice");
      known.add(lower);
      if (value.length > TOOL_LIMITS.headerValueMaxChars) {
        fault([name], "too_long", `at most ${TOOL_LIMITS.headerValueMaxChars} characters`);
      } else if (!HEADER_VALUE.test(value)) fault([name], "invalid", "has characters that an HTTP header cannot have");
    }
  })
  .describe(
    `Sent with each call. Every value is a secret: it is kept sealed and shown as ${MASKED_SECRET}; sent back so, it stays as it is.`,
  );

/** What stands in the braces of a URL template. */
const PLACEHOLDER = /\{([^{}]*)\}/g;
const PLACEHOLDER_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Names of the arguments that a URL template takes, in their order, each once. */
export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(PLACEHOLDER)].map(([, name = ""]) => name))];
}

/** Why a URL with these texts in place of its placeholders cannot be called; null when it can. */
function urlFaultOf(url: string): string | null {
  if (isMalformedText(url) || /[\s\\]/.test(url)) return "must be a URL without white space and backslashes";
  const parsed = parseUrl(url);
  if (parsed === null || !/^https?:\/\/[^/]/i.test(url))
    return "must be an absolute URL that begins with http or https";
  if (parsed.username !== "" || parsed.password !== "") return "must not hold a user name or password; use a header";
  if (url.includes("#")) return "must not hold a #";
  return null;
}

const lengthFault = (url: string) =>
  url.length > TOOL_LIMITS.urlMaxChars ? `at most ${TOOL_LIMITS.urlMaxChars} characters` : null;

/** Why a URL template cannot be one; null when it can. */
function templateFaultOf(template: string): string | null {
  const tooLong = lengthFault(template);
  if (tooLong !== null) return tooLong;
  const [, origin = ""] = /^([a-z]+:\/\/[^/?#]*)/i.exec(template) ?? [];
  if (/[{}]/.test(origin)) return "must name its host without placeholders";
  const names = placeholdersOf(template);
  if (names.some((name) => !PLACEHOLDER_NAME.test(name))) return "has a placeholder that is no name of an argument";
  const filled = template.replaceAll(PLACEHOLDER, "x");
  if (/[{}]/.test(filled)) return "has a brace without its other half";
  return urlFaultOf(filled);
}

const urlSchema = z
  .string()
  .superRefine((url, context) => {
    const message = lengthFault(url) ?? urlFaultOf(url);
    if (message !== null) context.addIssue({ code: "custom", message, params: { code: "invalid_url" } });
  })
  .meta({ maxLength: TOOL_LIMITS.urlMaxChars });

const templateSchema = z
  .string()
  .superRefine((template, context) => {
    const message = templateFaultOf(template);
    if (message !== null) context.addIssue({ code: "custom", message, params: { code: "invalid_url" } });
  })
  .meta({ maxLength: TOOL_LIMITS.urlMaxChars })
  .describe(
    "As in `https://api.example.com/orders/{orderId}`: arguments take the place of their names in braces, percent-encoded. The host is fixed.",
  );

/** Words of JSON Schema that lead elsewhere, or change how the rest is read. */
const LEADING_WORDS: ReadonlySet<string> = new Set([
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "$id",
  "$anchor",
  "$dynamicAnchor",
  "$async",
  "$data",
]);

interface SchemaFault {
  path: string[];
  code: string;
  message: string;
}

/** The first thing in a JSON Schema that is not taken: too deep, a reference, a text that cannot be kept. */
function findDeepFault(parameters: Record<string, unknown>): SchemaFault | null {
  const open: { value: unknown; path: string[] }[] = [{ value: parameters, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (typeof value === "string" && isMalformedText(value)) {
      return { path, code: "malformed_text", message: "must not contain NUL or a lone surrogate" };
    }
    if (typeof value !== "object" || value === null) continue;
    if (path.length >= TOOL_LIMITS.parametersMaxDepth) {
      return { path: [], code: "too_deep", message: `at most ${TOOL_LIMITS.parametersMaxDepth} levels` };
    }
    for (const [key, child] of Object.entries(value)) {
      if (isMalformedText(key)) return { path, code: "malformed_text", message: "has a name that cannot be kept" };
      // An argument may have such a name: what describes it is an object then.
      if (LEADING_WORDS.has(key) && typeof child !== "object") {
        return { path: [...path, key], code: "not_allowed", message: "is not taken here: write the schema out" };
      }
      open.push({ value: child, path: [...path, key] });
    }
  }
  return null;
}

/** Names of the arguments that a JSON Schema describes. */
function argumentsOf({ properties }: Record<string, unknown>): string[] {
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}

function findParametersFault(parameters: Record<string, unknown>): SchemaFault | null {
  const deep = findDeepFault(parameters);
  if (deep !== null) return deep;
  const sizeBytes = new TextEncoder().encode(JSON.stringify(parameters)).length;
  if (sizeBytes > TOOL_LIMITS.parametersMaxBytes) {
    return { path: [], code: "too_large", message: `at most ${TOOL_LIMITS.parametersMaxBytes} bytes as JSON` };
  }
  if (parameters["type"] !== "object") {
    return { path: ["type"], code: "invalid", message: "must be object: arguments have names" };
  }
  const odd = argumentsOf(parameters).find((name) => !PLACEHOLDER_NAME.test(name));
  if (odd === undefined) return null;
  return { path: ["properties", odd], code: "invalid_name", message: "1 to 64 letters, digits, _ . or -" };
}

const parametersSchema = z
  .record(z.string(), z.unknown())
  .superRefine((parameters, context) => {
    const fault = findParametersFault(parameters);
    if (fault === null) return;
    const { path, message, code } = fault;
    context.addIssue({ code: "custom", path, message, params: { code } });
  })
  .describe("JSON Schema of the arguments: an object, without references.");

const httpToolFields = {
  type: z.literal("http"),
  name: toolNameSchema,
  description: messageText(TOOL_LIMITS.descriptionMaxChars).describe("What it is for: the model goes by it."),
  method: methodSchema,
  url: templateSchema,
  parameters: parametersSchema,
};

const bodyKindSchema = z
  .enum(["json", "none"], { error: "json or none" })
  .describe("`json`: arguments that the URL does not name are sent as a JSON object.");

/** A tool that is one HTTP request, as it is given: what is left out follows from the rest. */
const httpToolInputSchema = z
  .strictObject({
    ...httpToolFields,
    headers: headersSchema.optional(),
    body: bodyKindSchema.optional(),
    access: toolAccessSchema.optional().describe("`read` for GET, else `write`, where it is left out."),
    approval: toolApprovalSchema.optional().describe("`operator` for what writes, where it is left out."),
    bind: bindSchema.optional(),
    anonymous: anonymousSchema.optional(),
  })
  .transform(({ headers = {}, ...tool }) => {
    const { body = tool.method === "GET" || tool.method === "DELETE" ? "none" : "json" } = tool;
    const { access = tool.method === "GET" ? "read" : "write" } = tool;
    const { approval = access === "read" ? "auto" : "operator" } = tool;
    return { ...tool, headers, body, access, approval } as const;
  })
  .superRefine((tool, context) => {
    const fault = (path: string[], code: string, message: string) =>
      context.addIssue({ code: "custom", path, message, params: { code } });
    if (tool.method === "GET" && tool.body === "json") fault(["body"], "not_allowed", "GET has no body");
    const named = argumentsOf(tool.parameters);
    for (const name of Object.keys(tool.bind ?? {}).filter((one) => !named.includes(one))) {
      fault(["bind", name], "unknown_argument", "is none of the arguments in parameters");
    }
    const placed = placeholdersOf(tool.url);
    for (const name of placed.filter((one) => !named.includes(one))) {
      fault(["url"], "unknown_argument", `{${name}} is none of the arguments in parameters`);
    }
    if (tool.body === "json") return;
    for (const name of named.filter((one) => !placed.includes(one))) {
      fault(["parameters", "properties", name], "not_sent", "the url does not name it, and there is no body for it");
    }
  });

const remoteNameSchema = wellFormedString
  .refine((name) => name !== "" && name.length <= TOOL_LIMITS.remoteNameMaxChars, {
    error: `1 to ${TOOL_LIMITS.remoteNameMaxChars} characters`,
  })
  .meta({ minLength: 1, maxLength: TOOL_LIMITS.remoteNameMaxChars });

const remoteRuleFields = {
  access: toolAccessSchema.optional(),
  approval: toolApprovalSchema.optional(),
  bind: bindSchema.optional(),
  anonymous: anonymousSchema.optional(),
};
const remoteRuleSchema = z.strictObject(remoteRuleFields);

const mcpToolFields = {
  type: z.literal("mcp"),
  name: toolNameSchema.describe("Begins the names of its tools; unique in the agent."),
  url: urlSchema.describe("Of its Streamable HTTP endpoint."),
};

const tooManyRemote = { error: `at most ${TOOL_LIMITS.remoteToolsMaxCount} tools` };

/** An MCP server whose tools an agent has, as it is given. */
const mcpToolInputSchema = z
  .strictObject({
    ...mcpToolFields,
    headers: headersSchema.optional(),
    allow: z
      .array(remoteNameSchema)
      .max(TOOL_LIMITS.remoteToolsMaxCount, tooManyRemote)
      .nullable()
      .optional()
      .describe("Names of the tools that the agent may have; null, or left out: all."),
    rules: z
      .record(remoteNameSchema, remoteRuleSchema)
      .refine((rules) => Object.keys(rules).length <= TOOL_LIMITS.remoteToolsMaxCount, tooManyRemote)
      .optional()
      .describe(
        "By the name of a tool, what is to be said instead of the server: it writes unless the server says that it only reads, and what writes waits for an operator.",
      ),
  })
  .transform(({ headers = {}, allow = null, rules = {}, ...tool }) => ({ ...tool, headers, allow, rules }));

/** A tool of an agent, as it is given: what is left out has its default. */
const agentToolInputSchema = z.discriminatedUnion("type", [httpToolInputSchema, mcpToolInputSchema], {
  error: "type must be http or mcp",
});

/** The tools of an agent, as they are given: no two have one name. */
export const agentToolsInputSchema = z
  .array(agentToolInputSchema)
  .max(TOOL_LIMITS.toolsMaxCount, { error: `at most ${TOOL_LIMITS.toolsMaxCount} tools` })
  .superRefine((tools, context) => {
    const known = new Set<string>();
    for (const [index, { name }] of tools.entries()) {
      const path = [index, "name"];
      if (known.has(name))
        context.addIssue({ code: "custom", path, message: "stands there twice", params: { code: "taken" } });
      known.add(name);
    }
  });

const shownHeadersSchema = z.record(z.string(), z.string()).describe(`Each shown as ${MASKED_SECRET}.`);

const httpToolSchema = z.object({
  ...httpToolFields,
  url: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  headers: shownHeadersSchema,
  body: bodyKindSchema,
  access: toolAccessSchema,
  approval: toolApprovalSchema,
  bind: bindSchema.optional(),
  anonymous: anonymousSchema.optional(),
});
export type HttpTool = z.infer<typeof httpToolSchema>;

const mcpToolSchema = z.object({
  ...mcpToolFields,
  url: z.string(),
  headers: shownHeadersSchema,
  allow: z.array(z.string()).nullable(),
  rules: z.record(z.string(), z.object(remoteRuleFields)),
});
export type McpTool = z.infer<typeof mcpToolSchema>;

/** A tool of an agent: header values are secrets, and which form they have depends on who holds it. */
export const agentToolSchema = z.discriminatedUnion("type", [httpToolSchema, mcpToolSchema]);
export type AgentTool = z.infer<typeof agentToolSchema>;

/** How far a call of a tool is: `unknown` when nobody can tell whether it was made. */
export const toolCallStateSchema = z.enum(["waiting", "approved", "running", "done", "failed", "unknown", "rejected"]);
export type ToolCallState = z.infer<typeof toolCallStateSchema>;

/** Characters of a result that lists and tickets show. */
export const TOOL_RESULT_SHOWN_MAX_CHARS = 4_000;

/** A call that an agent has made of one of its tools, or wants to make. */
export const toolCallSchema = z.object({
  id: z.string(),
  project: z.string().describe("Whose agent it is."),
  ticketId: z.string(),
  messageId: z.string().describe("The message that the agent answers."),
  agentId: z.string(),
  tool: z.string().describe("Name of the tool, as the model knows it."),
  access: toolAccessSchema,
  arguments: z.record(z.string(), z.unknown()),
  state: toolCallStateSchema.describe(
    "`waiting` for an operator; `approved`, and about to be made; `running`; `done` and `failed` as the other end has answered; `unknown` when nobody can tell whether it was made, so that a person has to look there; `rejected` by an operator, or by what has become of its message.",
  ),
  result: z
    .string()
    .nullable()
    .describe(`What came of it, at most ${TOOL_RESULT_SHOWN_MAX_CHARS} characters; written by the other end.`),
  ms: z.int().nullable().describe("How long the call took."),
  at: z.iso.datetime(),
  decidedBy: z.string().nullable().describe("The operator who approved or rejected it."),
  decidedAt: z.iso.datetime().nullable(),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

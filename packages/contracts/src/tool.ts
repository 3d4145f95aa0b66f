import { z } from "zod";
import { isMalformedText, messageText, parseUrl, wellFormedString } from "./limits.ts";
import { MASKED_SECRET } from "./secret.ts";

/**
 * Headers that frame or route a request (RFC 9110, RFC 9112), in lowercase. The HTTP client sets them; callers must not
 * override them.
 */
export const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "te",
  "trailer",
  "expect",
  "upgrade",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
]);

/** Limits of agents' tools. Characters are Unicode code points unless bytes are stated. */
export const TOOL_LIMITS = {
  /** Maximum number of tools per agent. An MCP server counts as one. */
  toolsMaxCount: 20,
  nameMaxChars: 40,
  descriptionMaxChars: 2_000,
  urlMaxChars: 2_000,
  headersMaxCount: 20,
  headerNameMaxChars: 100,
  headerValueMaxChars: 4_000,
  /** Limits of the JSON Schema of a tool's arguments: bytes as JSON, and nesting depth. */
  parametersMaxBytes: 16 * 1024,
  parametersMaxDepth: 16,
  /** Maximum number of named tools of an MCP server, and characters of each name. */
  remoteToolsMaxCount: 100,
  remoteNameMaxChars: 128,
} as const;

const toolNameError = `must be a letter followed by letters, digits and _, at most ${TOOL_LIMITS.nameMaxChars} characters`;
const toolNameSchema = z
  .string()
  .regex(/^[a-zA-Z][a-zA-Z0-9_]{0,39}$/, { error: toolNameError })
  .describe("Name of the tool for the language model. Unique in its agent.");

/** Whether a call changes data. */
export const toolAccessSchema = z.enum(["read", "write"], { error: "must be read or write" });
export type ToolAccess = z.infer<typeof toolAccessSchema>;

/** Whether a call is made immediately, or waits for an operator's approval. */
export const toolApprovalSchema = z.enum(["auto", "operator"], { error: "must be auto or operator" });
export type ToolApproval = z.infer<typeof toolApprovalSchema>;

/** Values that the service can bind to an argument. Only verified ones: see docs/tools-of-agents.md. */
export const ARGUMENT_SOURCES = ["customer.userId", "customer.email", "ticket.id", "chat.id"] as const;
export type ArgumentSource = (typeof ARGUMENT_SOURCES)[number];

const bindSchema = z
  .record(z.string(), z.enum(ARGUMENT_SOURCES))
  .describe("Arguments that the service fills in, by name. The language model neither sees nor chooses them.");

const anonymousSchema = z
  .enum(["allow", "refuse"], { error: "must be allow or refuse" })
  .describe(
    "Whether customers without a verified identity can trigger calls that no operator approves. Defaults to `refuse` if an argument that identifies a person or object is not bound, otherwise to `allow`.",
  );

export const TOOL_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const methodSchema = z.enum(TOOL_METHODS);

/** Headers that are set by the request itself, or would redirect it to another server. */
const OWN_HEADERS: ReadonlySet<string> = new Set([...FRAMING_HEADERS, "idempotency-key"]);

const HEADER_NAME = /^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,100}$/;
// Characters that HTTP allows: visible Latin-1 characters, spaces and tabs.
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

const headersSchema = z
  .record(z.string(), z.string())
  .superRefine((headers, context) => {
    const error = (path: string[], code: string, message: string) =>
      context.addIssue({ code: "custom", path, message, params: { code } });
    const names = Object.keys(headers);
    if (names.length > TOOL_LIMITS.headersMaxCount) {
      error([], "too_many", `must have at most ${TOOL_LIMITS.headersMaxCount} headers`);
    }
    const known = new Set<string>();
    for (const [name, value] of Object.entries(headers)) {
      const lower = name.toLowerCase();
      if (!HEADER_NAME.test(name)) error([name], "invalid_name", "is not a valid HTTP header name");
      else if (OWN_HEADERS.has(lower)) error([name], "not_allowed", "is set by the service itself");
      if (known.has(lower)) error([name], "taken", "is repeated");
      known.add(lower);
      if (value.length > TOOL_LIMITS.headerValueMaxChars) {
        error([name], "too_long", `must have at most ${TOOL_LIMITS.headerValueMaxChars} characters`);
      } else if (!HEADER_VALUE.test(value))
        error([name], "invalid", "contains characters that are not allowed in an HTTP header");
    }
  })
  .describe(
    `Headers sent with each call. All values are secrets: they are stored encrypted and shown as ${MASKED_SECRET}. Sending that value back leaves the secret unchanged.`,
  );

/** Placeholders in braces of a URL template. */
const PLACEHOLDER = /\{([^{}]*)\}/g;
const PLACEHOLDER_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Returns the names of the arguments in a URL template, in order, without duplicates. */
export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(PLACEHOLDER)].map(([, name = ""]) => name))];
}

/** Returns why a URL with these values for its placeholders is not valid, or null. */
function urlErrorOf(url: string): string | null {
  if (isMalformedText(url) || /[\s\\]/.test(url)) return "must be a URL without whitespace and backslashes";
  const parsed = parseUrl(url);
  if (parsed === null || !/^https?:\/\/[^/]/i.test(url))
    return "must be an absolute URL that starts with http or https";
  if (parsed.username !== "" || parsed.password !== "") return "must not contain a user name or password; use a header";
  if (url.includes("#")) return "must not contain a #";
  return null;
}

const lengthError = (url: string) =>
  url.length > TOOL_LIMITS.urlMaxChars ? `must have at most ${TOOL_LIMITS.urlMaxChars} characters` : null;

/** Returns why a URL template is not valid, or null. */
function templateErrorOf(template: string): string | null {
  const tooLong = lengthError(template);
  if (tooLong !== null) return tooLong;
  const [, origin = ""] = /^([a-z]+:\/\/[^/?#]*)/i.exec(template) ?? [];
  if (/[{}]/.test(origin)) return "must not have placeholders in the host";
  const names = placeholdersOf(template);
  if (names.some((name) => !PLACEHOLDER_NAME.test(name))) return "contains a placeholder that is not an argument name";
  const filled = template.replaceAll(PLACEHOLDER, "x");
  if (/[{}]/.test(filled)) return "contains an unmatched brace";
  return urlErrorOf(filled);
}

const urlSchema = z
  .string()
  .superRefine((url, context) => {
    const message = lengthError(url) ?? urlErrorOf(url);
    if (message !== null) context.addIssue({ code: "custom", message, params: { code: "invalid_url" } });
  })
  .meta({ maxLength: TOOL_LIMITS.urlMaxChars });

const templateSchema = z
  .string()
  .superRefine((template, context) => {
    const message = templateErrorOf(template);
    if (message !== null) context.addIssue({ code: "custom", message, params: { code: "invalid_url" } });
  })
  .meta({ maxLength: TOOL_LIMITS.urlMaxChars })
  .describe(
    "As in `https://api.example.com/orders/{orderId}`: names in braces are replaced with percent-encoded arguments. The host is fixed.",
  );

/** JSON Schema keywords that refer to other schemas or change how the rest is interpreted. */
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

interface SchemaProblem {
  path: string[];
  code: string;
  message: string;
}

/** Returns the first unsupported part of a JSON Schema: too deep, a reference, or text that cannot be stored. */
function findDeepProblem(parameters: Record<string, unknown>): SchemaProblem | null {
  const open: { value: unknown; path: string[] }[] = [{ value: parameters, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (typeof value === "string" && isMalformedText(value)) {
      return { path, code: "malformed_text", message: "must not contain NUL characters or unpaired surrogates" };
    }
    if (typeof value !== "object" || value === null) continue;
    if (path.length >= TOOL_LIMITS.parametersMaxDepth) {
      return { path: [], code: "too_deep", message: `must have at most ${TOOL_LIMITS.parametersMaxDepth} levels` };
    }
    for (const [key, child] of Object.entries(value)) {
      if (isMalformedText(key))
        return { path, code: "malformed_text", message: "contains a name that cannot be stored" };
      // An argument may have this name; its schema is an object.
      if (LEADING_WORDS.has(key) && typeof child !== "object") {
        return { path: [...path, key], code: "not_allowed", message: "is not supported; write the schema out" };
      }
      open.push({ value: child, path: [...path, key] });
    }
  }
  return null;
}

/** Returns the names of the arguments in a JSON Schema. */
function argumentsOf({ properties }: Record<string, unknown>): string[] {
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}

function findParametersProblem(parameters: Record<string, unknown>): SchemaProblem | null {
  const deep = findDeepProblem(parameters);
  if (deep !== null) return deep;
  const sizeBytes = new TextEncoder().encode(JSON.stringify(parameters)).length;
  if (sizeBytes > TOOL_LIMITS.parametersMaxBytes) {
    return {
      path: [],
      code: "too_large",
      message: `must have at most ${TOOL_LIMITS.parametersMaxBytes} bytes as JSON`,
    };
  }
  if (parameters["type"] !== "object") {
    return { path: ["type"], code: "invalid", message: 'must be "object", because arguments have names' };
  }
  const odd = argumentsOf(parameters).find((name) => !PLACEHOLDER_NAME.test(name));
  if (odd === undefined) return null;
  return { path: ["properties", odd], code: "invalid_name", message: "must have 1 to 64 letters, digits, _ . or -" };
}

const parametersSchema = z
  .record(z.string(), z.unknown())
  .superRefine((parameters, context) => {
    const error = findParametersProblem(parameters);
    if (error === null) return;
    const { path, message, code } = error;
    context.addIssue({ code: "custom", path, message, params: { code } });
  })
  .describe("JSON Schema of the arguments: an object, without references.");

const httpToolFields = {
  type: z.literal("http"),
  name: toolNameSchema,
  description: messageText(TOOL_LIMITS.descriptionMaxChars).describe("Description of the tool for the language model."),
  method: methodSchema,
  url: templateSchema,
  parameters: parametersSchema,
};

const bodyKindSchema = z
  .enum(["json", "none"], { error: "must be json or none" })
  .describe("`json` sends arguments that are not in the URL as a JSON object.");

/** An HTTP request tool as given. Omitted fields are derived from the others. */
const httpToolInputSchema = z
  .strictObject({
    ...httpToolFields,
    headers: headersSchema.optional(),
    body: bodyKindSchema.optional(),
    access: toolAccessSchema.optional().describe("Defaults to `read` for GET, otherwise to `write`."),
    approval: toolApprovalSchema.optional().describe("Defaults to `operator` for tools that write."),
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
    const error = (path: string[], code: string, message: string) =>
      context.addIssue({ code: "custom", path, message, params: { code } });
    if (tool.method === "GET" && tool.body === "json") error(["body"], "not_allowed", "must be none with GET");
    const named = argumentsOf(tool.parameters);
    for (const name of Object.keys(tool.bind ?? {}).filter((one) => !named.includes(one))) {
      error(["bind", name], "unknown_argument", "is not an argument in parameters");
    }
    const used = placeholdersOf(tool.url);
    for (const name of used.filter((one) => !named.includes(one))) {
      error(["url"], "unknown_argument", `{${name}} is not an argument in parameters`);
    }
    if (tool.body === "json") return;
    for (const name of named.filter((one) => !used.includes(one))) {
      error(["parameters", "properties", name], "not_sent", "is not in the url, and the request has no body");
    }
  });

const remoteNameSchema = wellFormedString
  .refine((name) => name !== "" && name.length <= TOOL_LIMITS.remoteNameMaxChars, {
    error: `must have 1 to ${TOOL_LIMITS.remoteNameMaxChars} characters`,
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
  name: toolNameSchema.describe("Prefix of its tools' names. Unique in the agent."),
  url: urlSchema.describe("URL of its Streamable HTTP endpoint."),
};

const tooManyRemote = { error: `must have at most ${TOOL_LIMITS.remoteToolsMaxCount} tools` };

/** An MCP server whose tools an agent can use, as given. */
const mcpToolInputSchema = z
  .strictObject({
    ...mcpToolFields,
    headers: headersSchema.optional(),
    allow: z
      .array(remoteNameSchema)
      .max(TOOL_LIMITS.remoteToolsMaxCount, tooManyRemote)
      .nullable()
      .optional()
      .describe("Names of the tools that the agent can use. Null or omitted for all."),
    rules: z
      .record(remoteNameSchema, remoteRuleSchema)
      .refine((rules) => Object.keys(rules).length <= TOOL_LIMITS.remoteToolsMaxCount, tooManyRemote)
      .optional()
      .describe(
        "Overrides by tool name. By default, a tool writes unless the server marks it as read-only, and a tool that writes waits for an operator's approval.",
      ),
  })
  .transform(({ headers = {}, allow = null, rules = {}, ...tool }) => ({ ...tool, headers, allow, rules }));

/** A tool of an agent as given. Omitted fields have their defaults. */
const agentToolInputSchema = z.discriminatedUnion("type", [httpToolInputSchema, mcpToolInputSchema], {
  error: "must have the type http or mcp",
});

/** The tools of an agent as given. Names are unique. */
export const agentToolsField = z
  .array(agentToolInputSchema)
  .max(TOOL_LIMITS.toolsMaxCount, { error: `must have at most ${TOOL_LIMITS.toolsMaxCount} tools` })
  .superRefine((tools, context) => {
    const known = new Set<string>();
    for (const [index, { name }] of tools.entries()) {
      const path = [index, "name"];
      if (known.has(name))
        context.addIssue({ code: "custom", path, message: "is repeated", params: { code: "taken" } });
      known.add(name);
    }
  });

const shownHeadersSchema = z.record(z.string(), z.string()).describe(`Each value is shown as ${MASKED_SECRET}.`);

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

/** A tool of an agent. Header values are secrets, in the form that their owner uses. */
export const agentToolSchema = z.discriminatedUnion("type", [httpToolSchema, mcpToolSchema]);
export type AgentTool = z.infer<typeof agentToolSchema>;

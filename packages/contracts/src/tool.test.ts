import { describe, expect, test } from "@jest/globals";
import { agentInputSchema } from "./agent.ts";
import { TOOL_LIMITS } from "./tool.ts";

const HTTP = {
  type: "http",
  name: "get_order",
  description: "Says where an order is.",
  method: "GET",
  url: "https://api.example.com/orders/{orderId}",
  parameters: { type: "object", properties: { orderId: { type: "string" } }, required: ["orderId"] },
};
const MCP = { type: "mcp", name: "shop", url: "https://shop.example/mcp" };

/** Returns the paths of the errors of a tool, each with its code. */
function errorsOf(...tools: unknown[]): [string, unknown][] {
  const parsed = agentInputSchema.safeParse({ name: "a", tools });
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => [
    `/${issue.path.map(String).join("/")}`,
    "params" in issue ? (issue.params as { code: string }).code : issue.code,
  ]);
}
const toolsOf = (...tools: unknown[]) => agentInputSchema.parse({ name: "a", tools }).tools;

describe("a tool that is given", () => {
  test("has the defaults that follow from the rest", () => {
    expect(toolsOf(HTTP, MCP)).toEqual([
      { ...HTTP, headers: {}, body: "none", access: "read", approval: "auto" },
      { ...MCP, headers: {}, allow: null, rules: {} },
    ]);
    const [post] = toolsOf({ ...HTTP, method: "POST" }) ?? [];
    expect(post).toMatchObject({ body: "json", access: "write", approval: "operator" });
    const [search] = toolsOf({ ...HTTP, method: "POST", access: "read" }) ?? [];
    expect(search).toMatchObject({ access: "read", approval: "auto" });
  });

  test.each<[string, object, string, string]>([
    ["no known kind", { ...HTTP, type: "soap" }, "/tools/0/type", "invalid_union"],
    ["an unknown field", { ...HTTP, secret: 1 }, "/tools/0", "unrecognized_keys"],
    ["a name that models do not take", { ...HTTP, name: "get order" }, "/tools/0/name", "invalid_format"],
    ["a placeholder in its host", { ...HTTP, url: "https://{orderId}.example.com/" }, "/tools/0/url", "invalid_url"],
    ["a placeholder in its port", { ...HTTP, url: "https://a.example:{orderId}/" }, "/tools/0/url", "invalid_url"],
    ["a user in its address", { ...HTTP, url: "https://me:pw@a.example/{orderId}" }, "/tools/0/url", "invalid_url"],
    ["another scheme", { ...HTTP, url: "file:///etc/{orderId}" }, "/tools/0/url", "invalid_url"],
    ["half a brace", { ...HTTP, url: "https://a.example/{orderId" }, "/tools/0/url", "invalid_url"],
    ["an undeclared argument", { ...HTTP, url: "https://a.example/{orderId}/{x}" }, "/tools/0/url", "unknown_argument"],
    [
      "an argument that is never sent",
      { ...HTTP, parameters: { type: "object", properties: { orderId: {}, note: {} } } },
      "/tools/0/parameters/properties/note",
      "not_sent",
    ],
    ["a body of GET", { ...HTTP, body: "json" }, "/tools/0/body", "not_allowed"],
    ["arguments without names", { ...HTTP, parameters: { type: "array" } }, "/tools/0/parameters/type", "invalid"],
    [
      "a reference",
      { ...HTTP, parameters: { type: "object", properties: { orderId: { $ref: "http://a.example/" } } } },
      "/tools/0/parameters/properties/orderId/$ref",
      "not_allowed",
    ],
    [
      "a large schema",
      { ...HTTP, parameters: { ...HTTP.parameters, description: "x".repeat(TOOL_LIMITS.parametersMaxBytes) } },
      "/tools/0/parameters",
      "too_large",
    ],
    [
      "a deep schema",
      { ...HTTP, parameters: { type: "object", not: JSON.parse(`${'{"not":'.repeat(50)}{}${"}".repeat(50)}`) } },
      "/tools/0/parameters",
      "too_deep",
    ],
    [
      "a schema that cannot be stored",
      { ...HTTP, parameters: { type: "object", description: "\u0000" } },
      "/tools/0/parameters/description",
      "malformed_text",
    ],
    ["a header of two lines", { ...HTTP, headers: { "X-Key": "a\r\nX-B: c" } }, "/tools/0/headers/X-Key", "invalid"],
    ["a header of the request itself", { ...HTTP, headers: { Host: "a" } }, "/tools/0/headers/Host", "not_allowed"],
    ["one header twice", { ...HTTP, headers: { "X-Key": "a", "x-key": "b" } }, "/tools/0/headers/x-key", "taken"],
    ["a server at no address", { ...MCP, url: "shop" }, "/tools/0/url", "invalid_url"],
    ["an unknown access rule", { ...MCP, rules: { a: { access: "all" } } }, "/tools/0/rules/a/access", "invalid_value"],
  ])("is rejected with the path of its error: %s", (_what, tool, position, code) => {
    expect(errorsOf(tool)).toEqual([[position, code]]);
  });

  test("is one of twenty at most, and has a name of its own", () => {
    expect(errorsOf(HTTP, { ...MCP, name: HTTP.name })).toEqual([["/tools/1/name", "taken"]]);
    const many = Array.from({ length: 21 }, (_, index) => ({ ...MCP, name: `s${index}` }));
    expect(errorsOf(...many)).toEqual([["/tools", "too_big"]]);
  });
});

import { describe, expect, test } from "@jest/globals";
import { checkArguments, findSchemaProblem, findUnboundIdentifiers, withoutBound } from "./check-arguments.ts";

describe("boundArguments", () => {
  const ORDER = {
    type: "object",
    properties: { orderId: { type: "string" }, customer_email: { type: "string" }, language: { type: "string" } },
    required: ["orderId", "language"],
  };

  test("a model sees no bound argument", () => {
    expect(withoutBound(ORDER, { orderId: "customer.userId" })).toEqual({
      type: "object",
      properties: { customer_email: { type: "string" }, language: { type: "string" } },
      required: ["language"],
    });
  });

  test("an argument that identifies something, or stands in the path, is an identifier until it is bound", () => {
    expect(findUnboundIdentifiers(ORDER, {})).toEqual(["orderId", "customer_email"]);
    expect(findUnboundIdentifiers(ORDER, { orderId: "customer.userId", customer_email: "customer.email" })).toEqual([]);
    expect(findUnboundIdentifiers(ORDER, {}, ["language"])).toEqual(["orderId", "customer_email", "language"]);
    expect(findUnboundIdentifiers({ type: "object", properties: { query: {}, page: {}, video: {} } }, {})).toEqual([]);
  });
});

describe("checkArguments", () => {
  const ORDER = {
    type: "object",
    properties: { orderId: { type: "string", pattern: "^[0-9]+$" }, state: { type: "string", pattern: "^[a-z]+$" } },
    required: ["orderId"],
    additionalProperties: false,
  };

  describe("arguments of a call", () => {
    test("that fit the schema are taken as they are; none at all are an empty object", async () => {
      expect(await checkArguments(ORDER, { orderId: "7", state: "open" })).toEqual({
        arguments: { orderId: "7", state: "open" },
      });
      expect(await checkArguments({ type: "object" }, undefined)).toEqual({ arguments: {} });
    });

    test.each<[unknown, RegExp]>([
      [{}, /orderId/],
      [{ orderId: 7 }, /\/orderId must be string/],
      [{ orderId: "x" }, /pattern/],
      [{ orderId: "7", state: "7" }, /\/state must match pattern/],
      [{ orderId: "7", other: 1 }, /additional/],
      ["text", /object/],
      [["7"], /object/],
      [{ orderId: "7\u0000" }, /NUL/],
      [{ orderId: "\ud800" }, /surrogate/],
      [{ orderId: "7".repeat(20_000) }, /longer than/],
      [JSON.parse(`{"orderId":${"[".repeat(100)}${"]".repeat(100)}}`), /deeper/],
    ])("that do not are told what is wrong: %p", async (input, error) => {
      expect(await checkArguments(ORDER, input)).toEqual({ problem: expect.stringMatching(error) });
    });
  });

  describe("a schema of a stranger", () => {
    test.each<[string, Record<string, unknown>]>([
      ["an expression that takes for ever", { properties: { a: { pattern: "^(a+)+$" } } }],
      ["a reference to itself", { anyOf: [{ $ref: "#" }, { $ref: "#" }] }],
      ["a reference to another host", { $ref: "http://127.0.0.1:1/schema" }],
      ["a schema that is loaded", { $schema: "http://127.0.0.1:1/meta", $id: "http://127.0.0.1:1/id" }],
      ["an asynchronous one", { $async: true }],
      ["names of the prototype", JSON.parse('{"properties":{"__proto__":{"type":"string"},"constructor":{}}}')],
    ])("ends at once: %s", async (_what, schema) => {
      const checked = await checkArguments({ type: "object", ...schema }, { a: `${"a".repeat(60)}!` });
      expect(Object.keys(checked)).toHaveLength(1);
    });

    test("that is none is named as such, and so is every call with it", async () => {
      expect(await findSchemaProblem({ type: "object", properties: { a: { type: "nonsense" } } })).toMatch(
        /not a JSON Schema/,
      );
      expect(await findSchemaProblem({ type: "object", properties: { a: { pattern: "(" } } })).toMatch(
        /not a JSON Schema/,
      );
      expect(await findSchemaProblem(ORDER)).toBeNull();
      expect(await checkArguments({ type: "nonsense" }, {})).toEqual({
        problem: expect.stringMatching(/cannot be used/),
      });
    });
  });
});

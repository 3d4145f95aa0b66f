import { describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { checkInput, describeInvalid, describeIssue } from "./check-input.ts";
import { ServiceError } from "./errors.ts";
import { keyInputSchema } from "./key.ts";
import { projectInputSchema } from "./project.ts";

const explain = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues.map((issue) => ({ path: issue.path, ...describeIssue(issue) }));

test("a missing field is reported as required", () => {
  expect(explain(z.object({ text: z.string() }), {})).toEqual([
    { path: ["text"], code: "required", detail: "is required" },
  ]);
});

test("a field of another type is reported with the type that it must have", () => {
  const schema = z.object({ text: z.string(), meta: z.array(z.number()) });
  expect(explain(schema, { text: 42, meta: null })).toEqual([
    { path: ["text"], code: "invalid_type", detail: "must be a string" },
    { path: ["meta"], code: "invalid_type", detail: "must be an array" },
  ]);
});

test("an error that a schema of the project has named keeps its code and text", () => {
  const schema = z
    .string()
    .refine(() => false, { error: "must have at most 3 characters", params: { code: "too_long" } });
  expect(explain(schema, "text")).toEqual([{ path: [], code: "too_long", detail: "must have at most 3 characters" }]);
  expect(
    explain(
      z.string().refine(() => false, { error: "no" }),
      "text",
    ),
  ).toEqual([{ path: [], code: "invalid", detail: "no" }]);
});

test("an invalid name of a record is reported with what a name must be", () => {
  const language = z.string().regex(/^[a-z]{2}$/, { error: "must be a language, such as de" });
  expect(explain(z.record(language, z.string()), { "x-y": "" })).toEqual([
    { path: ["x-y"], code: "invalid_key", detail: "is not a valid name: it must be a language, such as de" },
  ]);
});

test("the detail of an invalid request names the first error by its pointer, and the whole input for an error of it", () => {
  expect(describeInvalid("The key", [])).toBe("The key is not valid.");
  expect(describeInvalid("The key", [{ pointer: "/name", detail: "is required" }])).toBe(
    "The key is not valid: /name is required.",
  );
  expect(describeInvalid("The key", [{ pointer: "", detail: "must be an object" }])).toBe("The key must be an object.");
});

test("zod's default messages are reworded for callers who do not know zod", () => {
  const texts = (schema: z.ZodType, value: unknown) => explain(schema, value)?.map(({ detail }) => detail);
  expect(texts(z.enum(["low", "high"]), "none")).toEqual(["must be one of low, high"]);
  expect(texts(z.literal("on"), "off")).toEqual(['must be "on"']);
  expect(texts(z.string().max(3), "text")).toEqual(["must have at most 3 characters"]);
  expect(texts(z.string().min(3), "a")).toEqual(["must have at least 3 characters"]);
  expect(texts(z.array(z.string()).max(1), ["a", "b"])).toEqual(["must have at most 1 items"]);
  expect(texts(z.number().min(1).max(5), 9)).toEqual(["must be at most 5"]);
  expect(texts(z.number().positive(), 0)).toEqual(["must be greater than 0"]);
  expect(texts(z.strictObject({}), { extra: 1 })).toEqual(['must not contain the unknown field "extra"']);
  expect(texts(z.string().startsWith("x"), "y")).toEqual(['must start with "x"']);
  expect(texts(z.email(), "nobody")).toEqual(["is not a valid email address"]);
});

/** The error that an input gets. */
function errorOf(input: unknown, schema: Parameters<typeof checkInput>[0] = keyInputSchema): ServiceError {
  try {
    checkInput(schema, input, "The key");
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("the input was taken");
}

const parse = (json: string) => JSON.parse(json) as unknown;

describe("an input", () => {
  test("that is valid becomes the output of the schema", () => {
    expect(checkInput(keyInputSchema, { name: "a", scopes: ["kb:read", "kb:read"] }, "The key")).toEqual({
      name: "a",
      scopes: ["kb:read"],
    });
  });

  test("with errors is invalid_request with all of them and their pointers", () => {
    const error = errorOf({ name: "", scopes: ["kb:read", "kb:all"], rateLimit: 0 });
    expect(error.code).toBe("invalid_request");
    expect(error.message).toBe("The key is not valid: /name must not be empty or only whitespace (and 2 more).");
    expect(error.errors).toEqual([
      { pointer: "/name", code: "too_short", detail: "must not be empty or only whitespace" },
      { pointer: "/scopes/1", code: "invalid", detail: "is not a valid scope" },
      { pointer: "/rateLimit", code: "too_small", detail: expect.any(String) },
    ]);
  });

  test("that is not an object has its error at the root", () => {
    for (const input of [null, [], "a"]) {
      expect(errorOf(input).errors?.map(({ pointer }) => pointer)).toEqual([""]);
      expect(errorOf(input).message).toMatch(/^The key must be/);
    }
  });

  test("with unknown fields has an error for each, with names escaped as in RFC 6901", () => {
    const error = errorOf(parse('{"name":"a","__proto__":1,"a/b":1,"~":1,"":1}'), projectInputSchema);
    expect(error.errors).toEqual(
      ["/__proto__", "/a~1b", "/~0", "/"].map((pointer) => ({
        pointer,
        code: "unknown_field",
        detail: "is not a known field",
      })),
    );
  });

  test("full of errors gets a response that is smaller than itself", () => {
    const many = errorOf({ name: "a", ...Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`f${i}`, 1])) });
    expect(many.errors).toHaveLength(100);
    expect(many.message).toContain("(and 5000 more)");
    const long = errorOf({ name: "a", scopes: ["kb:read"], ["x".repeat(100_000)]: 1 });
    expect(JSON.stringify([long.message, long.errors]).length).toBeLessThan(1_000);
  });
});

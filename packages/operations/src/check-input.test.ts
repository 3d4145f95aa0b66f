import { describe, expect, test } from "@jest/globals";
import { ServiceError, keyInputSchema, projectInputSchema } from "@svc/contracts";
import { checkInput } from "./check-input.ts";

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
  test("that its schema takes is what the schema makes of it", () => {
    expect(checkInput(keyInputSchema, { name: "a", scopes: ["kb:read", "kb:read"] }, "The key")).toEqual({
      name: "a",
      scopes: ["kb:read"],
    });
  });

  test("with faults is invalid_request with every one of them and a pointer to its place", () => {
    const error = errorOf({ name: "", scopes: ["kb:read", "kb:all"], rateLimit: 0 });
    expect(error.code).toBe("invalid_request");
    expect(error.message).toBe("The key is not valid: /name must not be empty or only whitespace (and 2 more).");
    expect(error.errors).toEqual([
      { pointer: "/name", code: "too_short", detail: "must not be empty or only whitespace" },
      { pointer: "/scopes/1", code: "invalid", detail: "is not a valid scope" },
      { pointer: "/rateLimit", code: "too_small", detail: expect.any(String) },
    ]);
  });

  test("that is no object has its fault at the root", () => {
    for (const input of [null, [], "a"]) {
      expect(errorOf(input).errors?.map(({ pointer }) => pointer)).toEqual([""]);
      expect(errorOf(input).message).toMatch(/^The key must be/);
    }
  });

  test("with unknown fields has a fault for each, their names written as RFC 6901 says", () => {
    const error = errorOf(parse('{"name":"a","__proto__":1,"a/b":1,"~":1,"":1}'), projectInputSchema);
    expect(error.errors).toEqual(
      ["/__proto__", "/a~1b", "/~0", "/"].map((pointer) => ({
        pointer,
        code: "unknown_field",
        detail: "is not a known field",
      })),
    );
  });

  test("of nothing but faults gets an answer that is smaller than itself", () => {
    const many = errorOf({ name: "a", ...Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`f${i}`, 1])) });
    expect(many.errors).toHaveLength(100);
    expect(many.message).toContain("(and 5000 more)");
    const long = errorOf({ name: "a", scopes: ["kb:read"], ["x".repeat(100_000)]: 1 });
    expect(JSON.stringify([long.message, long.errors]).length).toBeLessThan(1_000);
  });
});

import { expect, test } from "@jest/globals";
import { z } from "zod";
import { describeInvalid, describeIssue } from "./describe-issue.ts";

const told = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues.map((issue) => ({ path: issue.path, ...describeIssue(issue) }));

test("a missing field is reported as required", () => {
  expect(told(z.object({ text: z.string() }), {})).toEqual([
    { path: ["text"], code: "required", detail: "is required" },
  ]);
});

test("a field of another type is reported with the type that it must have", () => {
  const schema = z.object({ text: z.string(), meta: z.array(z.number()) });
  expect(told(schema, { text: 42, meta: null })).toEqual([
    { path: ["text"], code: "invalid_type", detail: "must be a string" },
    { path: ["meta"], code: "invalid_type", detail: "must be an array" },
  ]);
});

test("an error that a schema of the project has named keeps its code and text", () => {
  const schema = z
    .string()
    .refine(() => false, { error: "must have at most 3 characters", params: { code: "too_long" } });
  expect(told(schema, "text")).toEqual([{ path: [], code: "too_long", detail: "must have at most 3 characters" }]);
  expect(
    told(
      z.string().refine(() => false, { error: "no" }),
      "text",
    ),
  ).toEqual([{ path: [], code: "invalid", detail: "no" }]);
});

test("an invalid name of a record is reported with what a name must be", () => {
  const language = z.string().regex(/^[a-z]{2}$/, { error: "must be a language, such as de" });
  expect(told(z.record(language, z.string()), { "x-y": "" })).toEqual([
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
  const texts = (schema: z.ZodType, value: unknown) => told(schema, value)?.map(({ detail }) => detail);
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

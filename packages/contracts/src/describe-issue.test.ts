import { expect, test } from "@jest/globals";
import { z } from "zod";
import { describeIssue } from "./describe-issue.ts";

const told = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues.map((issue) => ({ path: issue.path, ...describeIssue(issue) }));

test("reports a missing field as required", () => {
  expect(told(z.object({ text: z.string() }), {})).toEqual([
    { path: ["text"], code: "required", detail: "is required" },
  ]);
});

test("reports the expected type of a field of a different type", () => {
  const schema = z.object({ text: z.string(), meta: z.array(z.number()) });
  expect(told(schema, { text: 42, meta: null })).toEqual([
    { path: ["text"], code: "invalid_type", detail: "must be a string" },
    { path: ["meta"], code: "invalid_type", detail: "must be an array" },
  ]);
});

test("keeps code and text of an error that one of our schemas has named", () => {
  const schema = z.string().refine(() => false, { error: "at most 3 characters", params: { code: "too_long" } });
  expect(told(schema, "text")).toEqual([{ path: [], code: "too_long", detail: "at most 3 characters" }]);
  expect(
    told(
      z.string().refine(() => false, { error: "no" }),
      "text",
    ),
  ).toEqual([{ path: [], code: "invalid", detail: "no" }]);
});

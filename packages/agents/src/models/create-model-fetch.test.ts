import { expect, test } from "@jest/globals";
import { adaptRequest, learnQuirk } from "./create-model-fetch.ts";
import type { LearnedQuirks } from "./create-model-fetch.ts";

const format = { type: "json_schema", json_schema: { name: "answer", schema: { type: "object" } } };
const body = (change: object = {}) =>
  JSON.stringify({
    model: "m",
    max_tokens: 9,
    stream_options: { include_usage: true },
    response_format: format,
    messages: [
      { role: "system", content: "Rules." },
      { role: "user", content: "Question?" },
    ],
    ...change,
  });
const adapted = (learned: LearnedQuirks, change: object = {}): unknown =>
  JSON.parse(adaptRequest(body(change), learned));

test("a request goes as it is until something is refused", () => {
  expect(adaptRequest(body(), new Set())).toBe(body());
  expect(learnQuirk(body(), "the question is bad", new Set())).toBe(false);
});

test.each([
  ["Unknown parameter: 'stream_options'", { stream_options: undefined }],
  ["use 'max_completion_tokens' instead of max_tokens", { max_tokens: undefined, max_completion_tokens: 9 }],
])("after %j a request is made to fit, once", (said, change) => {
  const learned: LearnedQuirks = new Set();
  expect(learnQuirk(body(), said, learned)).toBe(true);
  expect(adapted(learned)).toEqual(JSON.parse(body(change)));
  expect(learnQuirk(body(), said, learned)).toBe(false);
});

test.each(["response_format.type must be json_object", "Failed to parse grammar", "unsupported: json_schema"])(
  "after %j JSON is asked for in words, after the rules and with the schema",
  (said) => {
    const learned: LearnedQuirks = new Set();
    expect(learnQuirk(body(), said, learned)).toBe(true);
    expect(adapted(learned)).toMatchObject({
      messages: [
        { role: "system", content: expect.stringMatching(/^Rules\.\n\n.*JSON Schema:\n\{"type":"object"\}$/s) },
        { role: "user", content: "Question?" },
      ],
    });
    expect(adaptRequest(body(), learned)).not.toContain("response_format");
    expect(adapted(learned, { messages: [] })).toMatchObject({ messages: [{ role: "system" }] });
  },
);

test("what is refused with tools is still sent without them", () => {
  const learned: LearnedQuirks = new Set();
  const withTools = body({ tools: [{}] });
  expect(learnQuirk(withTools, "Cannot use custom grammar constraints with tools.", learned)).toBe(true);
  expect(adaptRequest(withTools, learned)).not.toContain("response_format");
  expect(adaptRequest(body(), learned)).toContain("response_format");
});

test("nothing is learned of what a request does not have", () => {
  const learned: LearnedQuirks = new Set();
  const plain = JSON.stringify({ model: "m", messages: [] });
  expect(learnQuirk(plain, "response_format, stream_options and max_completion_tokens are unknown", learned)).toBe(
    false,
  );
  expect(learned.size).toBe(0);
});

import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { LIMITS } from "./limits.ts";
import { chatIdSchema, drainQuerySchema, messageRequestSchema, metaSchema } from "./message-request.ts";

const SMILE = "\u{1f600}";

const isValid = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

/** Returns the paths of the errors of a message request. */
function errorsOf(value: unknown): string[] {
  const issues = messageRequestSchema.safeParse(value).error?.issues ?? [];
  return issues.map((issue) => issue.path.join("."));
}

describe("a chat id", () => {
  test.each(["a", "a/b c%2F?#&=+", "../x", "...", "Issue:1", "an issue:1", "👩‍👩‍👧‍👦 שלום"])(
    "%j is accepted unchanged",
    (id) => {
      expect(chatIdSchema.parse(id)).toBe(id);
    },
  );

  test.each([
    "",
    ".",
    "..",
    "issue:",
    "issue:1",
    "a\nb",
    "a\tb",
    "a\u0000b",
    "\u007f",
    "\u0085",
    "\ud800",
    1,
    null,
    ["a"],
  ])("%j is rejected", (id) => {
    expect(isValid(chatIdSchema, id)).toBe(false);
  });

  test("has at most 200 characters, emoji counted as one", () => {
    for (const character of ["a", SMILE]) {
      expect(isValid(chatIdSchema, character.repeat(200))).toBe(true);
      expect(isValid(chatIdSchema, character.repeat(201))).toBe(false);
    }
  });

  test("that is accepted comes back from a URL and from UTF-8 unchanged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 200 }), (id) => {
        if (!isValid(chatIdSchema, id)) return true;
        const { pathname } = new URL(`/api/v1/messages/${encodeURIComponent(id)}`, "http://localhost");
        return decodeURIComponent(pathname.slice("/api/v1/messages/".length)) === id;
      }),
    );
  });
});

describe("meta", () => {
  const nested = (levels: number, open: string, close: string) =>
    JSON.parse(`${open.repeat(levels - 1)}{}${close.repeat(levels - 1)}`) as unknown;
  const ofBytes = (sizeBytes: number) => ({ a: "x".repeat(sizeBytes - Buffer.byteLength('{"a":""}')) });
  const messagesOf = (value: unknown) => metaSchema.safeParse(value).error?.issues.map(({ message }) => message);

  test("is accepted unchanged, with any keys and values", () => {
    const text = '{"__proto__":{"isAdmin":true},"a":[{"__proto__":null,"constructor":1}],"":null,"n":-1.5}';
    expect(JSON.stringify(metaSchema.parse(JSON.parse(text)))).toBe(text);
  });

  test("with __proto__ keys changes no prototype", () => {
    const parsed = messageRequestSchema.parse(
      JSON.parse('{"text":"a","meta":{"__proto__":{"isAdmin":true}},"__proto__":{"chatId":"."}}'),
    );
    expect("isAdmin" in {}).toBe(false);
    expect(parsed.chatId).toBeUndefined();
    expect(Object.getPrototypeOf(parsed.meta)).toBe(Object.prototype);
    expect(Object.keys(parsed.meta ?? {})).toEqual(["__proto__"]);
  });

  test("may be 32 levels deep and no deeper, objects and arrays alike", () => {
    expect(isValid(metaSchema, nested(32, '{"a":', "}"))).toBe(true);
    expect(messagesOf(nested(33, '{"a":', "}"))).toEqual(["must be at most 32 levels deep"]);
    expect(isValid(metaSchema, { a: nested(31, "[", "]") })).toBe(true);
    expect(messagesOf({ a: nested(32, "[", "]") })).toEqual(["must be at most 32 levels deep"]);
  });

  test.each([
    ["objects", '{"a":', "}"],
    ["arrays", "[", "]"],
  ])("of 10,000 levels of %s is rejected without exhausting the stack", (_what, open, close) => {
    expect(messagesOf({ a: nested(10_000, open, close) })).toEqual(["must be at most 32 levels deep"]);
  });

  test("may have 64 KB as JSON and no more, counted in bytes", () => {
    expect(isValid(metaSchema, ofBytes(LIMITS.metaMaxBytes))).toBe(true);
    expect(messagesOf(ofBytes(LIMITS.metaMaxBytes + 1))).toEqual(["must have at most 65536 bytes as JSON"]);
    expect(isValid(metaSchema, { a: "é".repeat(LIMITS.metaMaxBytes / 2) })).toBe(false);
  });

  test.each(["a\u0000b", "\ud800", "\udc00x"])("with %j in a value or in a key is rejected at any depth", (bad) => {
    for (const meta of [{ a: bad }, { [bad]: 1 }, { a: [{ b: [bad] }] }, { a: [{ [bad]: null }] }]) {
      expect(messagesOf(meta)).toEqual(["must not contain NUL characters or unpaired surrogates"]);
    }
  });

  test.each([null, [], "a", 1, true])("%j is not an object", (value) => {
    expect(messagesOf(value)).toEqual(["must be an object"]);
  });
});

describe("a message request", () => {
  test("needs a text only", () => {
    expect(messageRequestSchema.parse({ text: "hello" })).toEqual({ text: "hello" });
  });

  test("keeps every documented field and drops unknown ones", () => {
    const request = {
      text: "hello",
      chatId: "c",
      userId: "u",
      meta: { a: 1 },
      mode: "async",
      webhookUrl: "https://example.com/hook",
      timeoutMs: 5_000,
    };
    expect(messageRequestSchema.parse({ ...request, extra: 1 })).toEqual(request);
  });

  test("reports the errors of every field, not only the first", () => {
    const errors = errorsOf({
      text: " ",
      chatId: "..",
      userId: "",
      meta: [],
      mode: "later",
      webhookUrl: 1,
      timeoutMs: 0,
    });
    expect(errors).toEqual(["text", "chatId", "userId", "meta", "mode", "webhookUrl", "timeoutMs"]);
  });

  test.each([null, [], "text", 1])("that is %j is not an object", (value) => {
    expect(errorsOf(value)).toEqual([""]);
  });

  test("has at most 50,000 characters of text, emoji counted as one", () => {
    expect(errorsOf({ text: "a".repeat(50_000) })).toEqual([]);
    expect(errorsOf({ text: SMILE.repeat(50_000) })).toEqual([]);
    expect(errorsOf({ text: "a".repeat(50_001) })).toEqual(["text"]);
    expect(errorsOf({ text: SMILE.repeat(50_001) })).toEqual(["text"]);
  });

  test.each([1, 30_000, 120_000])("may wait for %i ms", (timeoutMs) => {
    expect(messageRequestSchema.parse({ text: "a", timeoutMs }).timeoutMs).toBe(timeoutMs);
  });

  test.each([0, -1, 120_001, 1.5, Number.NaN, JSON.parse("1e309"), "5000", "", null, true, [5_000]])(
    "that would wait for %p is rejected, never clamped",
    (timeoutMs) => {
      expect(errorsOf({ text: "a", timeoutMs })).toEqual(["timeoutMs"]);
    },
  );

  test.each(["sync", "async", "webhook"])("may be of mode %s", (mode) => {
    expect(messageRequestSchema.parse({ text: "a", mode }).mode).toBe(mode);
  });

  test.each(["Sync", "", null, 1, ["sync"]])("of mode %j is rejected", (mode) => {
    expect(errorsOf({ text: "a", mode })).toEqual(["mode"]);
  });

  test.each(["text", "chatId", "userId", "webhookUrl"])("with NUL or a lone surrogate in %s is rejected", (field) => {
    for (const bad of ["a\u0000", "a\ud800"]) {
      expect(new Set(errorsOf({ text: "a", [field]: bad }))).toEqual(new Set([field]));
    }
  });
});

describe("the query of a drain", () => {
  test("is empty by default, and its numbers become numbers", () => {
    expect(drainQuerySchema.parse({})).toEqual({});
    expect(drainQuerySchema.parse({ wait: "60000", after: "0", peek: "1" })).toEqual({
      wait: 60_000,
      after: 0,
      peek: "1",
    });
    expect(drainQuerySchema.parse({ wait: "0", after: "999999999999999", other: "x" })).toEqual({
      wait: 0,
      after: 999_999_999_999_999,
    });
  });

  test.each([
    ["wait", ["60001", "999999999", "-1", "1.5", "1e3", "", " 1", "abc", ["1", "2"]]],
    ["after", ["-1", "1.5", "", "x", "9999999999999999", ["0", "1"]]],
    ["peek", ["", "true", "2", ["0", "1"]]],
  ])("has one error for each invalid %s", (name, values) => {
    for (const value of values) {
      const issues = drainQuerySchema.safeParse({ [name]: value }).error?.issues ?? [];
      expect({ value, errors: issues.map(({ path }) => path) }).toEqual({ value, errors: [[name]] });
    }
  });

  test("reports all its errors at once", () => {
    const issues = drainQuerySchema.safeParse({ wait: "x", after: "x", peek: "x" }).error?.issues ?? [];
    expect(issues.map(({ path }) => path)).toEqual([["wait"], ["after"], ["peek"]]);
  });
});

import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { LIMITS } from "./limits.ts";
import { chatIdSchema, drainQuerySchema, messageRequestSchema } from "./message-request.ts";
import type { DrainQuery, MessageRequest } from "./message-request.ts";

const SURROGATE = /[\uD800-\uDFFF]/u;
const CONTROL = /\p{Cc}/u;
const SMILE = "\u{1f600}";

// What the contract promises, said a second time in the plainest way, so that no check is its own judge.
const countCodePoints = (text: string) => Array.from(text).length;
const isVisible = (text: string) => /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
const isWhole = (text: string) => !text.includes("\u0000") && !SURROGATE.test(text);
const utf8Bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
const isChatId = (id: string) =>
  isWhole(id) &&
  countCodePoints(id) >= 1 &&
  countCodePoints(id) <= 200 &&
  !CONTROL.test(id) &&
  !/^\.{1,2}$/.test(id) &&
  !id.startsWith("issue:");

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function stringsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => [key, ...stringsOf(child)]);
}

function expectPromisedRequest({ text, chatId, userId, meta, timeoutMs, webhookUrl }: MessageRequest): void {
  expect(isWhole(text) && isVisible(text) && countCodePoints(text) <= 50_000).toBe(true);
  expect(chatId === undefined || isChatId(chatId)).toBe(true);
  expect(userId === undefined || (isWhole(userId) && userId !== "" && countCodePoints(userId) <= 200)).toBe(true);
  expect(webhookUrl === undefined || isWhole(webhookUrl)).toBe(true);
  expect(timeoutMs === undefined || (Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= 120_000)).toBe(true);
  if (meta === undefined) return;
  expect(stringsOf(meta).every(isWhole)).toBe(true);
  expect(depthOf(meta)).toBeLessThanOrEqual(32);
  expect(utf8Bytes(meta)).toBeLessThanOrEqual(65_536);
}

function expectPromisedQuery({ wait, after, peek }: DrainQuery): void {
  expect(wait === undefined || (Number.isInteger(wait) && wait >= 0 && wait <= 60_000)).toBe(true);
  expect(after === undefined || (Number.isSafeInteger(after) && after >= 0)).toBe(true);
  expect(["0", "1", undefined]).toContain(peek);
}

/** Any text that JSON can carry: all code points, lone surrogates and NUL among them. */
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
  fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", ".", "..", "issue:", "issue:1", "sync"),
);
/** Any JSON value, parsed from its text as a request's body is: with an own `__proto__` where the text has one. */
const anyJson = fc
  .letrec<{ value: unknown; object: object }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6, depthIdentifier: "json" },
      anyText,
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4, depthIdentifier: "json" }),
      tie("object"),
    ),
    object: fc.dictionary(anyText, tie("value"), { maxKeys: 4, depthIdentifier: "json" }),
  }))
  .value.map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** Texts that a lenient parser, or another locale or language, takes for a number. */
const NUMBERS = ["0", "1", "60000", "60001", "999999", "1e3", "0x10", "1.0", "+1", "-0", " 1", "1 ", "1_0", "१", "NaN"];
/** An object of so many levels, the outermost and the innermost included. */
const nested = (levels: number, open: string, close: string) =>
  JSON.parse(`{"a":${open.repeat(levels - 2)}[]${close.repeat(levels - 2)}}`) as unknown;
/** Values on both sides of every limit. */
const AT_LIMITS = [
  [0, 1, 200, 201, 50_000, 50_001].flatMap((count) => ["x".repeat(count), SMILE.repeat(count)]),
  [32, 33].flatMap((levels) => [nested(levels, "[", "]"), nested(levels, '{"a":', "}")]),
  [65_536, 65_537].map((sizeBytes) => ({ a: "x".repeat(sizeBytes - 8) })),
  [32_764, 32_765].map((count) => ({ a: "é".repeat(count) })),
  [0, 1, 1.5, 120_000, 120_001, -0, 2 ** 53, Number.NaN, Infinity, -Infinity],
].flat();
const odd = fc.oneof(anyJson, fc.constantFrom<unknown>(...NUMBERS, ...AT_LIMITS));
const FIELDS = ["text", "chatId", "userId", "meta", "mode", "webhookUrl", "timeoutMs"];

const wholeText = (maxLength: number) =>
  fc.string({ unit: "binary", minLength: 1, maxLength }).filter((text) => isWhole(text));
const validText = fc.oneof(
  wholeText(300).filter(isVisible),
  fc.constantFrom("x", SMILE, "x".repeat(50_000), SMILE.repeat(50_000), ` ${SMILE}`.repeat(25_000)),
);
const validChatId = fc.oneof(
  wholeText(100).filter(isChatId),
  fc.constantFrom("x".repeat(200), SMILE.repeat(200), "...", "a/..", "Issue:1", " "),
);
const validMeta = fc
  .letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthIdentifier: "meta" },
      wholeText(20),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 4, depthIdentifier: "meta" }),
      tie("object"),
    ),
    object: fc.dictionary(fc.oneof(wholeText(20), fc.constantFrom("__proto__", "constructor", "")), tie("value"), {
      maxKeys: 5,
      depthIdentifier: "meta",
    }),
  }))
  .object.map((meta) => JSON.parse(JSON.stringify(meta)) as Record<string, unknown>);
const validRequest = fc.record(
  {
    text: validText,
    chatId: validChatId,
    userId: fc.oneof(wholeText(100), fc.constantFrom("x".repeat(200), SMILE.repeat(200))),
    meta: validMeta,
    mode: fc.constantFrom("sync", "async"),
    timeoutMs: fc.oneof(fc.integer({ min: 1, max: 120_000 }), fc.constantFrom(1, 120_000)),
  },
  { requiredKeys: ["text"] },
);

/** A text that is broken in one place, wherever that is. */
const brokenText = fc
  .tuple(
    fc.string({ maxLength: 20 }),
    fc.oneof(
      fc.constant("\u0000"),
      fc.integer({ min: 0xd800, max: 0xdbff }).map((unit) => `${String.fromCharCode(unit)} `),
      fc.integer({ min: 0xdc00, max: 0xdfff }).map((unit) => ` ${String.fromCharCode(unit)}`),
    ),
    fc.string({ maxLength: 20 }),
  )
  .map((parts) => parts.join(""));

describe("whatever JSON is given,", () => {
  const answers = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
    expect(typeof schema.safeParse(value).success).toBe("boolean");

  test("every schema answers and none throws", () => {
    fc.assert(
      fc.property(odd, (value) => {
        answers(messageRequestSchema, value);
        answers(drainQuerySchema, value);
        answers(chatIdSchema, value);
      }),
    );
  });

  test.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("also %s that nest deeper than a stack has room for", (_what, open, close) => {
    const inner = open === "[" ? "" : "null";
    const deep = JSON.parse(`${open.repeat(100_000)}${inner}${close.repeat(100_000)}`) as unknown;
    for (const field of FIELDS) answers(messageRequestSchema, { text: "a", [field]: deep });
    answers(messageRequestSchema, deep);
    answers(messageRequestSchema, { text: "a", nobodyKnows: deep });
    expect(messageRequestSchema.safeParse({ text: "a", meta: { deep } }).success).toBe(false);
    for (const name of ["wait", "after", "peek"]) answers(drainQuerySchema, { [name]: deep });
    answers(chatIdSchema, deep);
  });

  test("an accepted request keeps every limit of the contract", () => {
    const changes = fc.uniqueArray(fc.tuple(fc.constantFrom(...FIELDS), odd), {
      maxLength: 3,
      selector: ([field]) => field,
    });
    fc.assert(
      fc.property(validRequest, changes, (valid, changed) => {
        const parsed = messageRequestSchema.safeParse({ ...valid, ...Object.fromEntries(changed) });
        if (parsed.success) expectPromisedRequest(parsed.data);
      }),
    );
  });

  test.each(FIELDS)("%s is accepted on no wrong side of a limit", (field) => {
    for (const value of AT_LIMITS) {
      const parsed = messageRequestSchema.safeParse({ text: "a", [field]: value });
      if (parsed.success) expectPromisedRequest(parsed.data);
    }
  });

  test("an accepted query keeps every limit of the contract", () => {
    const anyQuery = fc.record({ wait: odd, after: odd, peek: odd }, { requiredKeys: [] });
    fc.assert(
      fc.property(anyQuery, (query) => {
        const parsed = drainQuerySchema.safeParse(query);
        if (parsed.success) expectPromisedQuery(parsed.data);
      }),
      { examples: NUMBERS.map((wait): [object] => [{ wait }]) },
    );
  });

  test("a chat id is accepted exactly when the contract allows it, and then unchanged", () => {
    fc.assert(
      fc.property(anyText, (id) => {
        const parsed = chatIdSchema.safeParse(id);
        expect(parsed.success).toBe(isChatId(id));
        if (parsed.success) expect(parsed.data).toBe(id);
      }),
    );
  });
});

describe("what keeps to the contract", () => {
  test("is accepted as a request, and every field comes out as it went in", () => {
    fc.assert(
      fc.property(validRequest, (request) => {
        const sent = JSON.parse(JSON.stringify(request)) as Record<string, unknown>;
        const parsed: Record<string, unknown> = messageRequestSchema.parse(sent);
        expect(new Set(Object.keys(parsed))).toEqual(new Set(Object.keys(sent)));
        // As text, since equality of objects looks past an own __proto__.
        for (const field of Object.keys(sent)) expect(JSON.stringify(parsed[field])).toBe(JSON.stringify(sent[field]));
      }),
    );
  });

  test("is accepted beside fields that nobody knows, which change nothing", () => {
    const extra = fc.dictionary(
      anyText.filter((name) => !FIELDS.includes(name)),
      anyJson,
    );
    fc.assert(
      fc.property(validRequest, extra, (request, more) => {
        const body = { ...more, ...request };
        expect(messageRequestSchema.parse(body)).toEqual(messageRequestSchema.parse(request));
      }),
    );
  });

  test("is accepted as a query, and comes out as numbers", () => {
    const query = fc.record(
      {
        wait: fc.integer({ min: 0, max: LIMITS.waitMaxMs }),
        after: fc.integer({ min: 0, max: 999_999_999_999_999 }),
        peek: fc.constantFrom("0", "1"),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(query, (values) => {
        const sent = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
        expect(drainQuerySchema.parse(sent)).toEqual(values);
      }),
    );
  });
});

describe("characters are code points, not UTF-16 units:", () => {
  const unit = fc.oneof(
    fc.constantFrom(SMILE, "\u{10ffff}", "\u{20000}"),
    fc.constantFrom("a", "é", "\uffff", "\u05d0", "e\u0301"),
  );
  /** A text of exactly so many code points, of one or two UTF-16 units each. */
  const ofCodePoints = (count: number) =>
    fc.tuple(unit, unit).map(([one, other]) =>
      Array.from((one + other).repeat(count))
        .slice(0, count)
        .join(""),
    );

  test.each([
    ["text", 50_000],
    ["chatId", 200],
    ["userId", 200],
  ])("%s has at most %i of them", (field, max) => {
    const isAccepted = (value: string) => messageRequestSchema.safeParse({ text: "a", [field]: value }).success;
    fc.assert(
      fc.property(ofCodePoints(max), unit, (longest, more) => {
        expect(isAccepted(longest)).toBe(true);
        expect(isAccepted(longest + more)).toBe(false);
      }),
      { numRuns: 20 },
    );
  });
});

describe("NUL and a lone surrogate are refused", () => {
  const isAccepted = (request: object) => messageRequestSchema.safeParse(request).success;

  test.each(["text", "chatId", "userId", "webhookUrl", "mode"])("anywhere in %s", (field) => {
    fc.assert(
      fc.property(brokenText, (broken) => {
        expect(isAccepted({ text: "a", [field]: broken })).toBe(false);
      }),
    );
  });

  test("anywhere in meta: in a name or a value, at any depth that is allowed", () => {
    const wrap = fc.array(fc.constantFrom("array", "object"), { maxLength: 30 });
    fc.assert(
      fc.property(brokenText, wrap, validMeta, (broken, wraps, meta) => {
        for (const innermost of [broken, { [broken]: null }]) {
          let value: unknown = innermost;
          for (const kind of wraps) value = kind === "array" ? [value, 1] : { z: 1, a: value };
          expect(isAccepted({ text: "a", meta: { ...meta, value } })).toBe(false);
        }
      }),
    );
  });

  test("in a chat id of a path", () => {
    fc.assert(fc.property(brokenText, (broken) => !chatIdSchema.safeParse(broken).success));
  });
});

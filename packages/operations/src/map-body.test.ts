import { describe, expect, test } from "@jest/globals";
import type { HookCondition, HookMapping } from "@svc/contracts";
import { createMappingCache, findMappingErrors, mapBody } from "./map-body.ts";

const guard = {
  checkUrl: (url: string | URL) =>
    String(url).startsWith("https://ok.")
      ? ({ ok: true } as const)
      : ({ ok: false, reason: "It is private." } as const),
};
const map = (
  mapping: HookMapping,
  body: unknown,
  { headers = {}, filter = [] }: { headers?: Record<string, string>; filter?: HookCondition[] } = {},
) => mapBody({ mapping, filter }, { body, headers }, { guard, hasWebhookSecret: true });
const codesOf = ({ faults: errors }: { faults: { pointer: string; code: string }[] }) =>
  errors.map(({ pointer, code }) => `${pointer} ${code}`);

const ISSUE = { issue: { title: "It rings", body: null, number: 7, labels: [{ name: "bug" }, { name: "sound" }] } };

describe("text", () => {
  test.each([
    ["New issue {{$.issue.title}}: #{{ $.issue.number }}", "New issue It rings: #7"],
    ["{{$.issue.labels[*].name}}", "bug\nsound"],
    ["{{$.issue.labels[0]}}", '{"name":"bug"}'],
    ["{{$['issue']['title']}}!", "It rings!"],
    ["{{$.issue.labels[?@.name=='sound'].name}}", "sound"],
    ["no place at all", "no place at all"],
    ["{{$headers['x-event']}} of {{$.issue.title}}", "opened of It rings"],
  ])("%s gives %j", (text, wanted) => {
    expect(map({ text }, ISSUE, { headers: { "x-event": "opened" } })).toMatchObject({
      outcome: "mapped",
      text: wanted,
      faults: [],
    });
  });

  test("the first of several templates counts of which every path finds something", () => {
    const text = ["{{$.issue.body}}", "{{$.issue.title}} {{$.nothing}}", "{{$.issue.title}}"];
    expect(map({ text }, ISSUE).text).toBe("It rings");
    expect(map({ text: "{{$.a}}" }, { a: ["x", 1, true] }).text).toBe("x, 1, true");
  });

  test("is a fault where nothing is found, where it is blank and where it is too long", () => {
    expect(codesOf(map({ text: "{{$.nothing}}" }, ISSUE))).toEqual(["/mapping/text nothing_found"]);
    expect(codesOf(map({ text: "{{$.a}}" }, { a: " \n" }))).toEqual(["/mapping/text nothing_found"]);
    expect(codesOf(map({ text: "{{$.a}}" }, { a: "x".repeat(50_001) }))).toEqual(["/mapping/text too_long"]);
    expect(codesOf(map({ text: "{{$.a}}{{$.a}}" }, { a: "x".repeat(150_000) }))).toEqual(["/mapping/text too_long"]);
    expect(codesOf(map({ text: "{{$.a}}" }, { a: "a\u0000b" }))).toEqual(["/mapping/text malformed_text"]);
  });
});

describe("the other fields", () => {
  test("an id takes the first value alone; user and callback are left out where nothing is found", () => {
    const mapping = { text: "a", chatId: "gh-{{$.issue.labels[*].name}}", userId: "{{$.x}}", webhookUrl: "{{$.y}}" };
    expect(map(mapping, ISSUE)).toMatchObject({ outcome: "mapped", chatId: "gh-bug", userId: null, webhookUrl: null });
  });

  test("a chat or event that is not found is a fault, since the message would be another one", () => {
    const mapped = map({ text: "a", chatId: "c{{$.x}}", eventId: ["{{$.y}}", "{{$.z}}"] }, ISSUE);
    expect(codesOf(mapped)).toEqual(["/mapping/chatId nothing_found", "/mapping/eventId nothing_found"]);
    expect(mapped.faults[1]?.detail).toContain("$.y, $.z");
  });

  test("what is no chat, no user and no event for the API is none here", () => {
    const long = "x".repeat(300);
    const mapping = { text: "a", chatId: "{{$.c}}", userId: "{{$.u}}", eventId: "{{$.e}}", webhookUrl: "{{$.w}}" };
    const mapped = map(mapping, { c: "issue:1", u: long, e: long, w: "http://10.0.0.1/" });
    expect(codesOf(mapped).sort()).toEqual([
      "/mapping/chatId invalid",
      "/mapping/eventId invalid",
      "/mapping/userId invalid",
      "/mapping/webhookUrl forbidden_address",
    ]);
  });

  test("a callback needs a webhook secret to be signed with", () => {
    const mapping = { text: "a", webhookUrl: "https://ok.example/{{$.issue.number}}" };
    expect(map(mapping, ISSUE)).toMatchObject({ outcome: "mapped", webhookUrl: "https://ok.example/7" });
    const unsigned = { guard, hasWebhookSecret: false };
    const mapped = mapBody({ mapping, filter: [] }, { body: ISSUE, headers: {} }, unsigned);
    expect(codesOf(mapped)).toEqual(["/mapping/webhookUrl no_webhook_secret"]);
  });

  test("meta keeps values as they are, lists where there are several, texts where there is text besides", () => {
    const meta = {
      number: "{{$.issue.number}}",
      labels: "{{$.issue.labels[*].name}}",
      first: "{{$.issue.labels[0]}}",
      title: "<{{$.issue.title}}>",
      fixed: "yes",
      nothing: "{{$.nothing}}",
      either: ["{{$.nothing}}", "{{$.issue.number}}"],
    };
    expect(map({ text: "a", meta }, ISSUE).meta).toEqual({
      number: 7,
      labels: ["bug", "sound"],
      first: { name: "bug" },
      title: "<It rings>",
      fixed: "yes",
      either: 7,
    });
  });

  test("keys and values named after parts of the language are data", () => {
    const body: unknown = JSON.parse('{"__proto__":{"a":"x"},"constructor":"y"}');
    expect(map({ text: "{{$['__proto__'].a}} {{$.constructor}}" }, body).text).toBe("x y");
    expect(codesOf(map({ text: "{{$.toString}}{{$.length}}" }, {}))).toEqual(["/mapping/text nothing_found"]);
  });
});

describe("a filter", () => {
  const body = { action: "opened", count: 0, user: { type: "User" }, none: null };
  test.each<[string, HookCondition[], string]>([
    ["is met by an equal value", [{ path: "$.action", equals: "opened" }], "mapped"],
    ["is met by one of several", [{ path: "$.action", equals: ["closed", "opened"] }], "mapped"],
    ["compares types too", [{ path: "$.count", equals: "0" }], "ignored"],
    ["is met by another value than those it excludes", [{ path: "$.user.type", not: "Bot" }], "mapped"],
    ["is not met by a value that it excludes", [{ path: "$.user.type", not: ["Bot", "User"] }], "ignored"],
    ["is met by anything that is there", [{ path: "$.none" }], "mapped"],
    ["is not met by what is not there", [{ path: "$.other" }], "ignored"],
    ["excludes nothing where there is nothing", [{ path: "$.other", not: "x" }], "mapped"],
    ["has to be met as a whole", [{ path: "$.action" }, { path: "$.other" }], "ignored"],
    ["looks at headers", [{ path: "$headers['x-event']", equals: "ping" }], "mapped"],
  ])("%s", (_title, filter, outcome) => {
    expect(map({ text: "{{$.nothing}}", meta: {} }, body, { filter, headers: { "x-event": "ping" } }).outcome).toBe(
      outcome === "mapped" ? "failed" : outcome,
    );
    expect(map({ text: "a" }, body, { filter, headers: { "x-event": "ping" } }).outcome).toBe(outcome);
  });
});

describe("paths", () => {
  test.each([
    ["{{issue.title}}", "must start with $"],
    ["{{$.issue[}}", "RFC 9535"],
    ["{{$.a[?(@.b)}}", "RFC 9535"],
    ["{{$.a.constructor('return 1')()}}", "RFC 9535"],
    ["{{$..*..*}}", ".. more than once"],
    ["{{$.a[?@.b==$.c]}}", "in a filter"],
    ["{{$.a", "without a matching }}"],
    [`{{$.${"a".repeat(500)}}}`, "must have at most 500 characters"],
  ])("%s is a fault that says what is wrong", (text, why) => {
    const mapped = map({ text }, ISSUE);
    expect([mapped.outcome, codesOf(mapped)]).toEqual(["failed", ["/mapping/text invalid_path"]]);
    expect(mapped.faults[0]?.detail).toContain(why);
  });

  test("a fault of one template among several, of meta and of the filter has its place", () => {
    const mapping = { text: ["{{$.a}}", "{{a}}"], meta: { "a/b~c": "{{$[}}" } };
    const mapped = map(mapping, {}, { filter: [{ path: "$" }, { path: "x" }] });
    expect(codesOf(mapped)).toEqual([
      "/mapping/text/1 invalid_path",
      "/mapping/meta/a~1b~0c invalid_path",
      "/filter/1/path invalid_path",
    ]);
  });

  test("a mapping has at most 100 of them", () => {
    const meta = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`m${index}`, "{{$.a}} {{$.b}} {{$.c}}"]));
    expect(codesOf(map({ text: "a", meta }, {}))).toEqual(["/mapping too_many"]);
  });

  test("no more of them are read than may be, and braces alone are read once", () => {
    // The path that is none comes after a hundred others.
    const many = `${"{{$.a}}".repeat(100)}{{a}}`;
    expect(codesOf(map({ text: many }, {}))).toEqual(["/mapping too_many"]);
    const braces = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`m${n}`, "{{".repeat(5_000)]));
    const errors = findMappingErrors({ text: "a", meta: braces }, []);
    expect(new Set(errors.map(({ code, detail }) => `${code}: ${detail}`))).toEqual(
      new Set(["invalid_path: contains {{ without a matching }}"]),
    );
    expect(errors).toHaveLength(50);
  });

  const wide = { a: Array.from({ length: 2_000 }, (_, index) => [index]) };
  test("one that finds more than a thousand values is a fault", () => {
    expect(codesOf(map({ text: "{{$.a[*][*]}}" }, wide))).toEqual(["/mapping/text too_many"]);
    expect(codesOf(map({ text: "a" }, wide, { filter: [{ path: "$..*", equals: "x" }] }))).toEqual([
      "/filter too_many",
    ]);
  });

  test("hostile ones are broken off, regular expressions as well", () => {
    const unions = `$${"[*,*,*,*,*,*,*,*]".repeat(20)}`;
    const nested = Array.from({ length: 20 }).reduce<unknown>((inner) => [inner, inner], [1]);
    const regexp = "$[?search(@, '(a*)*(a*)*(a*)*b')]";
    for (const [path, body] of [
      [`$[?count(${unions.replace("$", "@")})>1]`, nested],
      [regexp, ["a".repeat(40)]],
    ] as const) {
      expect(codesOf(map({ text: `{{${path}}}` }, body))).toEqual(["/mapping too_slow"]);
    }
    expect(map({ text: "still {{$.a}}" }, { a: "here" }).text).toBe("still here");
  });
});

const readWith = (cache: ReturnType<typeof createMappingCache>, id: string, version = 1) =>
  cache.readerOf({ id, version })({ text: "{{$.a}}" }, []);

test("a version of a hook is read once, another version again, and those used last are kept", () => {
  const cache = createMappingCache();
  const first = readWith(cache, "a");
  expect(readWith(cache, "a")).toBe(first);
  const second = readWith(cache, "a", 2);
  expect(second).not.toBe(first);
  for (let hook = 0; hook < 199; hook++) readWith(cache, `other ${hook}`);
  expect(readWith(cache, "a", 2)).toBe(second);
  readWith(cache, "one more");
  expect(readWith(cache, "a", 2)).toBe(second);
  for (let hook = 0; hook < 200; hook++) readWith(cache, `another ${hook}`);
  expect(readWith(cache, "a", 2)).not.toBe(second);
});

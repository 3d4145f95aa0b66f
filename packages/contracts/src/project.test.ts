import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { projectInputSchema, projectNameSchema } from "./project.ts";

const errorsOf = (input: unknown) =>
  projectInputSchema.safeParse(input).error?.issues.map(({ path }) => path.join(".")) ?? [];

describe("the name of a project", () => {
  test.each(["a", "0", "default", "north-2", "a--b-", "a".repeat(63)])("may be %j", (name) => {
    expect(projectNameSchema.parse(name)).toBe(name);
  });

  test.each([
    "",
    "-a",
    "A",
    "a_b",
    "a b",
    " a",
    "a\n",
    "ä",
    "a.b",
    "a/b",
    "a".repeat(64),
    "'; DROP TABLE projects; --",
    "<b>a</b>",
    "__proto__",
    "a\u0000",
    1,
    null,
    ["a"],
    {},
  ])("is not %j", (name) => {
    expect(projectNameSchema.safeParse(name).success).toBe(false);
  });

  test("that is accepted can be used in a header and in a path unchanged", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z0-9-]{1,70}$/)), (name) => {
        if (!projectNameSchema.safeParse(name).success) return;
        expect(encodeURIComponent(name)).toBe(name);
        expect(new Headers({ "x-svc-project": name }).get("x-svc-project")).toBe(name);
      }),
    );
  });
});

describe("a new project", () => {
  test("needs a name only, and may have every setting", () => {
    for (const project of [
      { name: "north" },
      { name: "north", handoffText: "", greeting: "", tablesAsXlsx: false, retentionDays: null },
      { name: "north", handoffText: "One\n\ttwo 🙂 <b>", tablesAsXlsx: true, retentionDays: 36_500 },
    ]) {
      expect(projectInputSchema.parse(project)).toEqual(project);
    }
  });

  test.each<[field: string, values: unknown[]]>([
    ["name", [undefined, null, 1, "", []]],
    ["handoffTexts", [null, 1, [], "de"]],
    ["handoffText", [null, 1, [], "a\u0000", "\ud800", "x".repeat(5_001)]],
    ["greeting", [null, 1, [], "a\u0000", "\ud800", "x".repeat(4_001)]],
    ["tablesAsXlsx", [null, 1, "true", []]],
    ["retentionDays", [0, -1, 1.5, 36_501, "7", true, [], Number.NaN, JSON.parse("1e309")]],
  ])("is rejected for an invalid %s", (field, values) => {
    for (const value of values) {
      expect({ value, errors: errorsOf({ name: "a", [field]: value }) }).toEqual({ value, errors: [field] });
    }
  });

  test.each([{ german: "a" }, { DE: "a" }, { de: "" }, { de: 1 }, { de: "x".repeat(5_001) }])(
    "is rejected for the handoff texts %#, with the language that is wrong",
    (handoffTexts) => {
      const [language = ""] = Object.keys(handoffTexts);
      expect(errorsOf({ name: "a", handoffTexts })).toEqual([`handoffTexts.${language}`]);
    },
  );

  test("may have limits for language models, each by itself, and is rejected for invalid ones with their names", () => {
    for (const modelLimits of [{}, { concurrency: 1 }, { concurrency: null, tokensPerDay: 1_000_000_000_000 }]) {
      expect(projectInputSchema.parse({ name: "a", modelLimits })).toEqual({ name: "a", modelLimits });
    }
    for (const bad of [0, -1, 1.5, "8", true, {}, 1_000_000_000_001]) {
      expect(errorsOf({ name: "a", modelLimits: { concurrency: bad, tokensPerDay: bad } })).toEqual([
        "modelLimits.concurrency",
        "modelLimits.tokensPerDay",
      ]);
    }
    expect(errorsOf({ name: "a", modelLimits: { calls: 1 } })).toEqual(["modelLimits"]);
    expect(errorsOf({ name: "a", modelLimits: null })).toEqual(["modelLimits"]);
  });

  test("may have quotas, each by itself, and is rejected for invalid ones with their names", () => {
    for (const quotas of [{}, { sockets: 1 }, { messagesPerDay: null, storageMb: 100 }]) {
      expect(projectInputSchema.parse({ name: "a", quotas })).toEqual({ name: "a", quotas });
    }
    expect(errorsOf({ name: "a", quotas: { messagesPerDay: 0, documents: 1.5, storageMb: "8" } })).toEqual([
      "quotas.messagesPerDay",
      "quotas.documents",
      "quotas.storageMb",
    ]);
    expect(errorsOf({ name: "a", quotas: { calls: 1 } })).toEqual(["quotas"]);
  });

  test("may have business hours", () => {
    const businessHours = {
      timeZone: "Europe/Berlin",
      week: {
        monday: [
          ["09:00", "12:00"],
          ["12:00", "24:00"],
        ],
        sunday: [],
      },
      holidays: [{ date: "2028-02-29" }, { date: "2026-12-25", name: "Christmas" }],
    };
    expect(projectInputSchema.parse({ name: "a", businessHours })).toEqual({ name: "a", businessHours });
    expect(projectInputSchema.parse({ name: "a", businessHours: null })).toEqual({ name: "a", businessHours: null });
  });

  test.each<[name: string, change: object, field: string]>([
    ["an unknown time zone", { timeZone: "Mars/Olympus" }, "timeZone"],
    ["a time zone that is an offset", { timeZone: "+01:00" }, "timeZone"],
    ["an unknown day", { week: { funday: [] } }, "week"],
    ["a time that no clock shows", { week: { monday: [["09:00", "24:01"]] } }, "week.monday.0.1"],
    ["a period that ends before it starts", { week: { monday: [["17:00", "09:00"]] } }, "week.monday.0"],
    [
      "periods that overlap",
      {
        week: {
          monday: [
            ["09:00", "12:00"],
            ["11:59", "17:00"],
          ],
        },
      },
      "week.monday",
    ],
    ["a holiday that is no date", { holidays: [{ date: "2026-02-29" }] }, "holidays.0.date"],
    [
      "more holidays than allowed",
      { holidays: Array.from({ length: 401 }, () => ({ date: "2026-12-25" })) },
      "holidays",
    ],
  ])("is rejected for business hours with %s", (_name, change, field) => {
    const businessHours = { timeZone: "UTC", week: {}, holidays: [], ...change };
    expect(errorsOf({ name: "a", businessHours })).toEqual([`businessHours.${field}`]);
  });

  test.each([null, [], "a", 1, [{ name: "a" }]])("is no %j", (input) => {
    expect(errorsOf(input)).toEqual([""]);
  });

  test("with unknown fields is rejected, __proto__ and constructor among them", () => {
    const input: unknown = JSON.parse('{"name":"a","id":"x","__proto__":{"name":"b"},"constructor":1}');
    expect(projectInputSchema.safeParse(input).error?.issues).toEqual([
      expect.objectContaining({ code: "unrecognized_keys", keys: ["id", "__proto__", "constructor"] }),
    ]);
  });

  test("is accepted or rejected, whatever the input, and an accepted one is what was sent", () => {
    const field = fc.oneof(fc.anything(), fc.constant(undefined));
    fc.assert(
      fc.property(
        fc.record({
          name: fc.oneof(fc.anything(), fc.constant("north")),
          handoffText: fc.oneof(field, fc.string({ unit: "binary" })),
          tablesAsXlsx: field,
          retentionDays: fc.oneof(field, fc.integer()),
        }),
        (input) => {
          const parsed = projectInputSchema.safeParse(input);
          if (parsed.success) expect(parsed.data).toEqual(input);
          else expect(parsed.error.issues.length).toBeGreaterThan(0);
        },
      ),
    );
  });
});

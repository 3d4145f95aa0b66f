import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { keyInputSchema, rotateInputSchema } from "./key.ts";
import { SCOPE_ACTIONS, SCOPE_RESOURCES } from "./endpoint.ts";
import { countChars } from "./limits.ts";

const SMILE = "\u{1f600}";
const KEY = { name: "shop", scopes: ["messages:write"] };

const errorsOf = (input: unknown) =>
  keyInputSchema.safeParse(input).error?.issues.map(({ path }) => path.join(".")) ?? [];
/** Returns the fields with errors of a key with this field changed. */
const errorsWith = (field: string, value: unknown) => [...new Set(errorsOf({ ...KEY, [field]: value }))];

/** Values of every type that JSON has. */
const WRONG: Record<"string" | "number" | "boolean" | "null" | "array" | "object", unknown[]> = {
  string: ["", "a"],
  number: [0, 5, -1, 1.5],
  boolean: [true, false],
  null: [null],
  array: [[], [1]],
  object: [{}, { a: 1 }],
};
const allBut = (...types: (keyof typeof WRONG)[]) =>
  Object.entries(WRONG).flatMap(([type, values]) => (types.some((right) => right === type) ? [] : values));

describe("a new key", () => {
  test("needs a name and a scope, and may have everything else", () => {
    expect(keyInputSchema.parse(KEY)).toEqual(KEY);
    const whole = {
      ...KEY,
      project: "north",
      expiresAt: "2099-01-31T12:00:00+01:00",
      rateLimit: null,
      key: "legacy/key+of=16",
    };
    expect(keyInputSchema.parse(whole)).toEqual({ ...whole, expiresAt: new Date("2099-01-31T11:00:00Z") });
  });

  test.each<[field: string, values: unknown[]]>([
    ["name", [undefined, ...allBut("string")]],
    ["scopes", [undefined, ...allBut("array"), { 0: "kb:read", length: 1 }]],
    ["project", allBut("string")],
    ["expiresAt", allBut("string")],
    ["rateLimit", allBut("number", "null")],
    ["key", allBut("string")],
  ])("has one wrong %s for each value of another type", (field, values) => {
    for (const value of values) {
      expect({ value, errors: errorsWith(field, value) }).toEqual({ value, errors: [field] });
    }
  });

  test.each([null, [], "a", 1, [KEY]])("is no %j", (input) => {
    expect(errorsOf(input)).toEqual([""]);
  });

  test("reports the errors of every field, and unknown fields", () => {
    const input: unknown = JSON.parse(
      '{"name":"","scopes":["kb:read","kb:all"],"project":"A","expiresAt":"soon","rateLimit":0,"key":"short","__proto__":{},"hasOwnProperty":1}',
    );
    expect(errorsOf(input)).toEqual(["name", "scopes.1", "project", "expiresAt", "rateLimit", "key", ""]);
    expect(keyInputSchema.safeParse(input).error?.issues.at(-1)).toMatchObject({
      keys: ["__proto__", "hasOwnProperty"],
    });
  });
});

describe("the name of a key", () => {
  test.each(["a", "Shop – Kasse 2 🛒", "<script>alert(1)</script>", "'; DROP TABLE api_keys; --", SMILE.repeat(100)])(
    "may be %j, and stays as it is",
    (name) => {
      expect(keyInputSchema.parse({ ...KEY, name }).name).toBe(name);
    },
  );

  test.each(["", " ", "\u00a0\u2003", "a\nb", "a\tb", "\u0000", "\u001b[31m", "\u0085", "\ud800", "x".repeat(101)])(
    "is not %j",
    (name) => {
      expect(errorsWith("name", name)).toEqual(["name"]);
    },
  );
});

describe("the scopes of a key", () => {
  test("are those of the grammar, each once, in the order in which they came", () => {
    const scopes = ["kb:read", "messages:*", "kb:read", "admin:*", "messages:*"];
    expect(keyInputSchema.parse({ ...KEY, scopes }).scopes).toEqual(["kb:read", "messages:*", "admin:*"]);
    const all = SCOPE_RESOURCES.flatMap((resource) => [...SCOPE_ACTIONS, "*"].map((action) => `${resource}:${action}`));
    expect(keyInputSchema.parse({ ...KEY, scopes: all }).scopes).toEqual(all);
  });

  test.each(["", "admin", "admin:read", "messages", "messages:", "*", "*:*", "Messages:read", "kb:read ", "kb:delete"])(
    "do not include %j",
    (scope) => {
      expect(errorsOf({ ...KEY, scopes: [scope] })).toEqual(["scopes.0"]);
    },
  );

  test("are reported one by one if they are wrong", () => {
    const scopes = ["kb:read", 1, null, ["kb:read"], { scope: "kb:read" }, "kb:write", "kb:all"];
    expect(errorsOf({ ...KEY, scopes })).toEqual(["scopes.1", "scopes.2", "scopes.3", "scopes.4", "scopes.6"]);
  });

  test("are at most 100, and 10,000 of them are one error", () => {
    expect(errorsOf({ ...KEY, scopes: Array.from({ length: 100 }, () => "kb:read") })).toEqual([]);
    for (const scope of ["kb:read", "nonsense", 1]) {
      expect(errorsOf({ ...KEY, scopes: Array.from({ length: 10_000 }, () => scope) })).toEqual(["scopes"]);
    }
  });
});

describe("the expiry of a key", () => {
  test.each([
    "2099-12-31T23:59:59Z",
    "2099-12-31T23:59:59.123456Z",
    "9999-12-31T23:59:59Z",
    "2099-01-01T00:00:00-12:00",
  ])("may be %s", (expiresAt) => {
    expect(keyInputSchema.parse({ ...KEY, expiresAt }).expiresAt).toEqual(new Date(expiresAt));
  });

  test.each([
    "soon",
    "2099-12-31",
    "2099-12-31T23:59:59",
    "2099-12-31T23:59Z",
    "2099-12-31 23:59:59Z",
    "2099-02-30T00:00:00Z",
    "2099-12-31T24:00:00Z",
    "+10000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-01:00",
    "4102444800",
    "2099-12-31T23:59:59Z\n",
    "",
  ])("is not %j", (expiresAt) => {
    expect(errorsWith("expiresAt", expiresAt)).toEqual(["expiresAt"]);
  });

  test("is not in the past, to the moment", () => {
    const at = (offsetMs: number) => new Date(Date.now() + offsetMs).toISOString();
    expect(errorsWith("expiresAt", at(60_000))).toEqual([]);
    for (const expiresAt of [at(0), at(-1), at(-60_000), "0000-01-01T00:00:00Z", "1970-01-01T00:00:00Z"]) {
      expect(errorsWith("expiresAt", expiresAt)).toEqual(["expiresAt"]);
    }
  });
});

describe("the rate limit of a key", () => {
  test.each([1, 120, 1_000_000, null])("may be %j", (rateLimit) => {
    expect(keyInputSchema.parse({ ...KEY, rateLimit }).rateLimit).toBe(rateLimit);
  });

  test.each([0, -1, 1_000_001, 1.5, Number.NaN, JSON.parse("1e309"), "120"])("is not %p", (rateLimit) => {
    expect(errorsWith("rateLimit", rateLimit)).toEqual(["rateLimit"]);
  });
});

describe("a key from elsewhere", () => {
  test.each(["sixteen-chars-16", "with spaces, 'signs' & \"all\"", "clé-d’administrateur-ключ-🗝", "x".repeat(512)])(
    "may be %j, and stays as it is",
    (key) => {
      expect(keyInputSchema.parse({ ...KEY, key }).key).toBe(key);
    },
  );

  test.each([
    "",
    "only-15-chars-x",
    SMILE.repeat(15),
    "x".repeat(513),
    "with a line\nbreak 16",
    "with a tab\t and more",
    "with NUL\u0000 and more",
    "with\u2028 a separator",
    "lone \ud800 surrogate",
    " begins with a space",
    "ends with a space ",
    "ends with one too\u00a0",
  ])("is not %j, and the error does not repeat it", (key) => {
    const { error } = keyInputSchema.safeParse({ ...KEY, key });
    expect(new Set(error?.issues.map(({ path }) => path.join(".")))).toEqual(new Set(["key"]));
    if (key !== "") expect(error?.issues.map(({ message }) => message).join()).not.toContain(key);
  });

  test("that is accepted can be sent in a header, in UTF-8", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 16, maxLength: 600 }), (key) => {
        if (errorsWith("key", key).length > 0) return;
        expect(countChars(key)).toBeLessThanOrEqual(512);
        const sent = Buffer.from(key, "utf8").toString("latin1");
        const received = new Headers({ "X-Api-Key": sent }).get("x-api-key") ?? "";
        expect(Buffer.from(received, "latin1").toString("utf8")).toBe(key);
      }),
    );
  });
});

describe("a rotation", () => {
  test("leaves the old key valid for a day by default, or for the given duration", () => {
    expect(rotateInputSchema.parse({})).toEqual({ overlapSeconds: 86_400 });
    for (const overlapSeconds of [0, 1, 604_800]) {
      expect(rotateInputSchema.parse({ overlapSeconds })).toEqual({ overlapSeconds });
    }
  });

  test.each([-1, 604_801, 1.5, Number.NaN, "0", null, true, [], {}])("does not take %p seconds", (overlapSeconds) => {
    const issues = rotateInputSchema.safeParse({ overlapSeconds }).error?.issues ?? [];
    expect(issues.map(({ path }) => path)).toEqual([["overlapSeconds"]]);
  });

  test.each([null, [], "a", 1])("is no %j", (input) => {
    expect(rotateInputSchema.safeParse(input).success).toBe(false);
  });

  test("with unknown fields is rejected", () => {
    const input: unknown = JSON.parse('{"overlap":1,"__proto__":{}}');
    expect(rotateInputSchema.safeParse(input).error?.issues).toMatchObject([{ keys: ["overlap", "__proto__"] }]);
  });
});

test("any input for a key is accepted or rejected, and an accepted one follows every rule", () => {
  const anyKey = fc.record(
    {
      name: fc.oneof(fc.anything(), fc.string({ unit: "binary", maxLength: 120 })),
      scopes: fc.oneof(fc.anything(), fc.array(fc.constantFrom("kb:read", "kb:*", "admin:*"), { maxLength: 120 })),
      project: fc.oneof(fc.anything(), fc.constantFrom("north", undefined)),
      expiresAt: fc.oneof(
        fc.anything(),
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      ),
      rateLimit: fc.oneof(fc.anything(), fc.integer()),
      key: fc.oneof(fc.anything(), fc.string({ maxLength: 40 })),
    },
    { requiredKeys: ["name", "scopes"] },
  );
  fc.assert(
    fc.property(anyKey, (input) => {
      const parsed = keyInputSchema.safeParse(input);
      if (!parsed.success) {
        expect(parsed.error.issues.length).toBeGreaterThan(0);
        return;
      }
      const { name, scopes, expiresAt, rateLimit } = parsed.data;
      expect(name).toBe(input.name);
      expect(countChars(name)).toBeLessThanOrEqual(100);
      expect(new Set(scopes).size).toBe(scopes.length);
      expect(scopes.length).toBeGreaterThan(0);
      if (expiresAt !== undefined) expect(expiresAt.getTime()).toBeGreaterThan(Date.now());
      if (typeof rateLimit === "number") expect(rateLimit).toBeGreaterThan(0);
    }),
  );
});

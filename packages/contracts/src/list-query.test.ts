import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import {
  decodeCursor,
  decodeKeyCursor,
  decodeTextCursor,
  encodeCursor,
  encodeKeyCursor,
  encodeTextCursor,
  listInputSchema,
} from "./list-query.ts";

const ID = "0190b5a0-9e8f-7c1d-8000-0123456789ab";
const schema = listInputSchema("keys");

const errorsOf = (input: unknown) => schema.safeParse(input).error?.issues.map(({ path }) => path.join(".")) ?? [];

describe("a cursor", () => {
  test("stands for the id that it was made from, and is safe in a URL", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.string(), (id, list) => {
        const cursor = encodeCursor(list, id);
        expect(cursor).toMatch(/^[\w-]{27}$/);
        expect(decodeCursor(list, cursor)).toBe(id);
      }),
    );
  });

  test("of another list is none of this one", () => {
    expect(decodeCursor("projects", encodeCursor("keys", ID))).toBeNull();
  });

  test("with any one character changed, added or taken away is none", () => {
    const cursor = encodeCursor("keys", ID);
    for (let index = 0; index < cursor.length; index++) {
      for (const character of ["A", "b", "_", "", "=", " ", "%"]) {
        const changed = cursor.slice(0, index) + character + cursor.slice(index + 1);
        if (changed !== cursor) expect({ changed, id: decodeCursor("keys", changed) }).toEqual({ changed, id: null });
      }
      const longer = `${cursor.slice(0, index)}A${cursor.slice(index)}`;
      expect(decodeCursor("keys", longer)).toBeNull();
    }
  });

  test("is not what anybody makes up", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.base64String(), fc.uuid()), (text) => {
        expect(decodeCursor("keys", text)).toBeNull();
      }),
    );
  });
});

describe("a cursor of a place in a sorted list", () => {
  const POSITION = { value: 1_763_766_000_123_456, id: ID };

  test("stands for the value and id that it was made from, and is safe in a URL", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.uuid(), fc.string(), (value, id, list) => {
        const cursor = encodeKeyCursor(list, { value, id });
        expect(cursor).toMatch(/^[\w-]{38}$/);
        expect(decodeKeyCursor(list, cursor)).toEqual({ value, id });
        expect(decodeKeyCursor(`${list}-`, cursor)).toBeNull();
        expect(decodeCursor(list, cursor)).toBeNull();
        expect(decodeKeyCursor(list, encodeCursor(list, id))).toBeNull();
      }),
    );
  });

  test("with any one character changed, added or taken away is none", () => {
    const cursor = encodeKeyCursor("tickets", POSITION);
    for (let index = 0; index < cursor.length; index++) {
      for (const character of ["A", "b", "_", "", "=", " ", "%"]) {
        const changed = cursor.slice(0, index) + character + cursor.slice(index + 1);
        if (changed !== cursor) expect(decodeKeyCursor("tickets", changed)).toBeNull();
      }
      expect(decodeKeyCursor("tickets", `${cursor.slice(0, index)}A${cursor.slice(index)}`)).toBeNull();
    }
  });

  test("is not what anybody makes up, nor a value that no number holds", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.base64String(), fc.uuid()), (text) => {
        expect(decodeKeyCursor("tickets", text)).toBeNull();
      }),
    );
    const large = encodeKeyCursor("tickets", { ...POSITION, value: 2 ** 60 });
    expect(decodeKeyCursor("tickets", large)).toBeNull();
  });
});

describe("a cursor of a name", () => {
  test("stands for the name that it was made from, and is safe in a URL", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), fc.string(), (name, list) => {
        const cursor = encodeTextCursor(list, name);
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(decodeTextCursor(list, cursor)).toBe(name);
      }),
    );
  });

  test("is none of another list, nor what anybody makes up", () => {
    expect(decodeTextCursor("keys", encodeTextCursor("models", "ollama:llama3.2:3b"))).toBeNull();
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(decodeTextCursor("models", text)).toBeNull();
      }),
    );
  });
});

describe("the query of a list", () => {
  test("asks for 50 items from the beginning by default", () => {
    expect(schema.parse({})).toEqual({ limit: 50, before: undefined });
  });

  test("has the given values, with the id of the cursor", () => {
    const asked = { limit: 7, cursor: encodeCursor("keys", ID), q: "50%_\\' OR 1=1; --" };
    expect(schema.parse(asked)).toEqual({ limit: 7, before: ID, q: asked.q });
  });

  test.each([1, 200])("may be %i items", (limit) => {
    expect(schema.parse({ limit }).limit).toBe(limit);
  });

  test.each([0, -1, 201, 1.5, Number.NaN, Infinity, "50", "", null, [1], {}])(
    "is no limit of %p, never a clamped one",
    (limit) => {
      expect(new Set(errorsOf({ limit }))).toEqual(new Set(["limit"]));
    },
  );

  test("has at most 200 characters to look for, emoji counted as one", () => {
    expect(errorsOf({ q: "\u{1f600}".repeat(200) })).toEqual([]);
    expect(errorsOf({ q: "\u{1f600}".repeat(201) })).toEqual(["q"]);
    for (const q of ["a\u0000", "\ud800", ["a", "b"], null, 1]) expect(errorsOf({ q })).toEqual(["q"]);
  });

  test("reports all its errors at once", () => {
    expect(errorsOf({ limit: "x", cursor: "x", q: "\u0000" })).toEqual(["limit", "cursor", "q"]);
    expect(errorsOf({ limit: 1, cursor: ["x"] })).toEqual(["cursor"]);
  });

  test("is accepted or rejected, whatever the input, and never throws", () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (limit, cursor, q) => {
        const parsed = schema.safeParse({ limit, cursor, q });
        if (!parsed.success) return;
        expect(parsed.data.limit).toBeGreaterThanOrEqual(1);
        expect(parsed.data.limit).toBeLessThanOrEqual(200);
      }),
    );
  });
});

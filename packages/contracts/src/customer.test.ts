import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { CUSTOMER_LIMITS, customerOf, profileOf, safeLine, customerChangeSchema } from "./customer.ts";

describe("customerOf", () => {
  test.each([
    [{ contact: { name: "Jonas Weber", email: "jonas@weber.example" } }, "Jonas Weber", "jonas@weber.example"],
    [{ name: "Ada Lovelace", email: "ada@example.org" }, "Ada Lovelace", "ada@example.org"],
    [{ user: { name: "Mei Lin" } }, "Mei Lin", null],
    [{ customer: { email: "kim@example.org" }, name: "Kim" }, "Kim", "kim@example.org"],
    [{ telegram: { from: { name: "Олена Коваль", username: "olena" } } }, "Олена Коваль", null],
    [{ telegram: { from: { name: "", username: "olena" } } }, "@olena", null],
    [{ contact: { name: "  ", email: "no address" }, name: "Kim" }, "Kim", null],
    [{ name: "علی\u200cرضا" }, "علی\u200cرضا", null],
  ])("reads %j", (meta, name, email) => {
    expect(customerOf(meta)).toEqual({ name, email });
  });

  test.each([
    {},
    { contact: null },
    { contact: "Jonas" },
    { contact: ["Jonas"] },
    { name: 7, email: { at: "x" } },
    { name: "\u202e\u200b\u0007" },
    { name: "\u200d" },
    { origin: "tool-server", clientIssueId: "7", source: "Standup 23 Nov" },
    { telegram: { from: null } },
    JSON.parse('{"__proto__":{"name":"Mallory"}}') as Record<string, unknown>,
  ])("names nobody for %j", (meta) => {
    expect(customerOf(meta)).toBeNull();
  });

  test("takes control, bidirectional and invisible characters out of a name and keeps it on one line", () => {
    const name = "An\u202ena\u2066\u0000\u0007 \r\n\t\u2028 \u200bBergs\u00adtröm\ufeff \u{e0041}";
    expect(customerOf({ name })?.name).toBe("Anna Bergström");
    expect(customerOf({ email: "anna\u202e@example.org" })?.email).toBe("anna@example.org");
  });

  test("bounds a name without cutting a character, and drops a longer address", () => {
    const name = customerOf({ name: "👩".repeat(40_000) })?.name ?? "";
    expect(Array.from(name)).toHaveLength(CUSTOMER_LIMITS.nameMaxChars);
    expect(name.isWellFormed()).toBe(true);
    expect(customerOf({ email: `${"a".repeat(250)}@example.org` })).toBeNull();
  });
});

test("safeLine makes one bounded line of any text", () => {
  expect(safeLine("  two\n\nlines\u202e ", 20)).toBe("two lines");
  expect(safeLine("x".repeat(30), 20)).toBe(`${"x".repeat(19)}…`);
});

test("whatever a sender states, its profile has bounded lines without control characters", () => {
  const text = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.stringMatching(/^[\s\p{Cf}@+\d.a]{0,300}$/u));
  const stated = fc.record({ name: text, username: text, email: text, phone: text, timeZone: text });
  const part = fc.oneof(stated, fc.anything());
  fc.assert(
    fc.property(part, part, fc.dictionary(fc.string(), fc.anything()), (contact, user, meta) => {
      const { name, email, phone } = profileOf({ ...meta, contact, user });
      for (const line of [name, email, phone]) {
        expect(line).toBe(line === null ? null : safeLine(line, CUSTOMER_LIMITS.emailMaxChars));
      }
    }),
  );
});

test("a changed phone number has digits, whatever else is beside them", () => {
  const accepts = (phone: string | null) => customerChangeSchema.safeParse({ phone }).success;
  for (const phone of ["+49 30 1234-567", "030 1234 ext. 5", "1-800-FLOWERS", null])
    expect([phone, accepts(phone)]).toEqual([phone, true]);
  for (const phone of ["call me maybe", "12", ""]) expect([phone, accepts(phone)]).toEqual([phone, false]);
});

import { createHmac } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { widgetSettingsSchema } from "@svc/contracts";
import type { ProjectId } from "@svc/store";
import { checkIdentity, findVisitor, isStillKnown } from "./find-visitor.ts";
import type { WidgetSite } from "./widget-context.ts";

const SECRET = "a secret of the site";
const VISITOR = "0c2f9a52-6a3b-4b0e-9d5e-1f6f0f1d7c11";
const siteWith = (identitySecret: string | null, requireIdentity: boolean): WidgetSite => ({
  settings: { ...widgetSettingsSchema.parse({}), requireIdentity },
  project: "01a20276-0000-7000-8000-000000000000" as ProjectId,
  replyTimes: { businessHours: null, replyTimeMinutes: null },
  identitySecret,
});
const signed = (userId: string, secret = SECRET) => ({
  userId,
  userHash: createHmac("sha256", secret).update(userId).digest("hex"),
});

describe("a visitor's claimed identity", () => {
  test("is accepted with its hash, regardless of case", () => {
    for (const userId of ["u-1", "Jürgen 🙂", "x".repeat(200)]) {
      expect(checkIdentity(siteWith(SECRET, false), signed(userId))).toBe(userId);
    }
  });

  test.each([
    ["no hash", { userId: "u-1" }],
    ["a hash without an id", { userHash: signed("u-1").userHash }],
    ["the hash of another user", { userId: "u-2", userHash: signed("u-1").userHash }],
    ["the hash of another secret", signed("u-1", "another secret")],
    ["a hash that is too short", { userId: "u-1", userHash: signed("u-1").userHash.slice(2) }],
    ["a hash that goes on", { userId: "u-1", userHash: `${signed("u-1").userHash}zz` }],
    ["no hexadecimal digits", { userId: "u-1", userHash: "z".repeat(64) }],
    ["an empty hash", { userId: "u-1", userHash: "" }],
  ])("is rejected with %s", (_what, claimed) => {
    for (const isRequired of [true, false]) {
      expect(() => checkIdentity(siteWith(SECRET, isRequired), claimed)).toThrow("HMAC-SHA256");
    }
  });

  test("is ignored without an identity secret, and rejected if identities are required", () => {
    expect(checkIdentity(siteWith(null, false), { userId: "u-1" })).toBeNull();
    expect(checkIdentity(siteWith(SECRET, false), {})).toBeNull();
    expect(() => checkIdentity(siteWith(SECRET, true), {})).toThrow("signed-in");
    expect(() => checkIdentity(siteWith(null, true), signed("u-1"))).toThrow("signed-in");
  });

  test("must be proven again after a change of the secret, when it becomes required, and in another project", () => {
    const before = siteWith(SECRET, false);
    const [nobody, somebody] = [
      findVisitor(before, { visitorId: VISITOR }, {}),
      findVisitor(before, { visitorId: VISITOR }, signed("u-1")),
    ];
    for (const visitor of [nobody, somebody]) expect(isStillKnown(visitor, before)).toBe(true);
    const demanded = siteWith(SECRET, true);
    expect([nobody, somebody].map((visitor) => isStillKnown(visitor, demanded))).toEqual([false, true]);
    const changed = siteWith("another secret", false);
    expect([nobody, somebody].map((visitor) => isStillKnown(visitor, changed))).toEqual([true, false]);
    const moved = { ...before, project: "01a20276-0000-7000-8000-000000000001" as ProjectId };
    expect([nobody, somebody].map((visitor) => isStillKnown(visitor, moved))).toEqual([false, false]);
  });
});

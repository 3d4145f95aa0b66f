import { describe, expect, test } from "@jest/globals";
import { SCOPE_ACTIONS, SCOPE_RESOURCES, grantsScope, scopeSchema } from "./endpoint.ts";
import type { RequiredScope } from "./endpoint.ts";

const everyRequired = [
  "admin:*" as const,
  ...SCOPE_RESOURCES.flatMap((resource) => SCOPE_ACTIONS.map((action) => `${resource}:${action}` as const)),
];

describe("the grammar of scopes", () => {
  test("has every resource with every action, each resource whole, and the administrator", () => {
    for (const scope of [...everyRequired, ...SCOPE_RESOURCES.map((resource) => `${resource}:*`)]) {
      expect({ scope, isValid: scopeSchema.safeParse(scope).success }).toEqual({ scope, isValid: true });
    }
  });

  test.each([
    "",
    "*",
    "*:*",
    "*:read",
    "admin",
    "admin:read",
    "messages",
    "messages:",
    "messages:delete",
    "Messages:read",
    "messages:read ",
    "messages:read:write",
    "toString:read",
    "keys:write",
    null,
    1,
    ["messages:read"],
  ])("does not have %j", (scope) => {
    expect(scopeSchema.safeParse(scope).success).toBe(false);
  });
});

describe("a key", () => {
  test.each<[granted: string[], required: RequiredScope, isCovered: boolean]>([
    [["messages:write"], "messages:write", true],
    [["messages:write"], "messages:read", false],
    [["messages:read"], "messages:write", false],
    [["messages:*"], "messages:read", true],
    [["messages:*"], "messages:write", true],
    [["messages:*"], "tickets:read", false],
    [["kb:*"], "kb:execute", true],
    [["kb:read", "tickets:read"], "tickets:read", true],
    [[], "messages:read", false],
    [["messages:*", "agents:*", "kb:*"], "admin:*", false],
    [["messages:read"], "admin:*", false],
    [["admin:*"], "admin:*", true],
    [["admin:*"], "privacy:execute", true],
    // What is no scope grants nothing, should it ever lie in the store.
    [["admin"], "admin:*", false],
    [["*", "*:*", ":*", "messages"], "messages:read", false],
  ])("with %j asked for %s: %j", (granted, required, isCovered) => {
    expect(grantsScope(granted, required)).toBe(isCovered);
  });

  test("of an administrator covers everything, and one of every resource covers all but that", () => {
    const allResources = SCOPE_RESOURCES.map((resource) => `${resource}:*`);
    for (const required of everyRequired) {
      expect(grantsScope(["admin:*"], required)).toBe(true);
      expect({ required, isCovered: grantsScope(allResources, required) }).toEqual({
        required,
        isCovered: required !== "admin:*",
      });
    }
  });

  test("with one scope covers that one and no other", () => {
    for (const granted of everyRequired.filter((scope) => scope !== "admin:*")) {
      expect(everyRequired.filter((required) => grantsScope([granted], required))).toEqual([granted]);
    }
  });
});

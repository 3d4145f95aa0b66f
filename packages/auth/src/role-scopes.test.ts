import { describe, expect, test } from "@jest/globals";
import { SCOPE_ACTIONS, SCOPE_RESOURCES, grantsScope } from "@svc/contracts";
import { ROLE_SCOPES, scopesOfRoles } from "./role-scopes.ts";

const ALL = SCOPE_RESOURCES.flatMap((resource) => SCOPE_ACTIONS.map((action) => `${resource}:${action}` as const));

describe("the scopes of roles", () => {
  test("are everything in the project for its administrator, but nothing of the installation", () => {
    const scopes = scopesOfRoles([{ project: "shop", role: "administrator" }], "shop");
    expect(ALL.filter((scope) => !grantsScope(scopes, scope))).toEqual([]);
    expect(grantsScope(scopes, "admin:*")).toBe(false);
  });

  test("are admin:* for the administrator of all projects, in each of them", () => {
    expect(scopesOfRoles([{ project: "*", role: "administrator" }], "anything")).toEqual(["admin:*"]);
  });

  test("let a viewer read and change nothing, and grow from viewer to operator to administrator", () => {
    expect(ROLE_SCOPES.viewer.filter((scope) => !scope.endsWith(":read"))).toEqual([]);
    expect(ROLE_SCOPES.viewer.filter((scope) => !ROLE_SCOPES.operator.includes(scope))).toEqual([]);
    const further = ALL.filter((scope) => grantsScope(ROLE_SCOPES.operator, scope));
    expect(further.filter((scope) => !grantsScope(ROLE_SCOPES.administrator, scope))).toEqual([]);
  });

  test("are none in a project without a role, and those of both where there is one for all and one for it", () => {
    expect(scopesOfRoles([{ project: "shop", role: "operator" }], "clinic")).toEqual([]);
    const roles = [
      { project: "*", role: "viewer" },
      { project: "shop", role: "operator" },
    ] as const;
    expect(scopesOfRoles(roles, "clinic")).toEqual([...ROLE_SCOPES.viewer]);
    expect(grantsScope(scopesOfRoles(roles, "shop"), "tickets:write")).toBe(true);
  });
});

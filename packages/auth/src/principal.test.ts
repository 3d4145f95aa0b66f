import { describe, expect, test } from "@jest/globals";
import { SCOPE_ACTIONS, SCOPE_RESOURCES, ServiceError, grantsScope } from "@svc/contracts";
import type { RequiredScope, Scope } from "@svc/contracts";
import { asProjectId } from "@svc/store";
import type { Project } from "@svc/store";
import { isAdministrator, localAdministrator, requireScope, ROLE_SCOPES, scopesOfRoles } from "./principal.ts";

const project = { id: asProjectId("0190"), name: "north" } as Project;

describe("a scope that is required", () => {
  test.each<[Scope[], RequiredScope]>([
    [["messages:write"], "messages:write"],
    [["messages:*"], "messages:read"],
    [["admin:*"], "tickets:write"],
    [["admin:*"], "admin:*"],
  ])("is there with %j: %s", (scopes, required) => {
    expect(() => requireScope({ scopes }, required)).not.toThrow();
  });

  test.each<[Scope[], RequiredScope]>([
    [["messages:write"], "messages:read"],
    [["messages:*", "kb:*"], "admin:*"],
    [[], "kb:read"],
  ])("is missing with %j: %s is named in the text and in the challenge (RFC 6750)", (scopes, required) => {
    let error: unknown;
    try {
      requireScope({ scopes }, required);
    } catch (problem) {
      error = problem;
    }
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: "insufficient_scope",
      message: expect.stringContaining(`does not have the scope ${required}.`),
      headers: { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${required}"` },
    });
  });
});

test("who works on the machine itself is an administrator of the given project", () => {
  const principal = localAdministrator(project);
  expect(principal).toEqual({
    actor: "command-line",
    keyId: null,
    rateLimit: null,
    scopes: ["admin:*"],
    project: project.id,
    projectName: "north",
  });
  expect(isAdministrator(principal)).toBe(true);
  expect(isAdministrator({ ...principal, scopes: ["messages:*", "tickets:*"] })).toBe(false);
});

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

import { describe, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import type { RequiredScope, Scope } from "@svc/contracts";
import { asProjectId } from "@svc/store";
import type { Project } from "@svc/store";
import { isAdministrator, localAdministrator, requireScope } from "./principal.ts";

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
    } catch (fault) {
      error = fault;
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

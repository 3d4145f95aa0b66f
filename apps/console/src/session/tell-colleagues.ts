import { requireScope, scopesOfRoles } from "@svc/auth";
import { grantsScope } from "@svc/contracts";
import type { ColleaguesAnswer } from "@svc/contracts";
import { principalOf } from "@svc/http";
import type { RequestHandler } from "express";
import type { ConsoleContext } from "../console-context.ts";

/** More than work in one project. */
const MAX_COUNT = 1_000;

/**
 * `GET /session/colleagues`: names and ids of those who work in the project, for assigning tickets, for mentions, and for
 * the names of those who did something. Whoever may read the tickets may know them; their e-mail addresses are not told.
 */
export function tellColleagues({ store }: Pick<ConsoleContext, "store">): RequestHandler {
  return async (_request, response) => {
    const principal = principalOf(response);
    requireScope(principal, "tickets:read");
    const found = await store.operators.listOfProject(principal.project, MAX_COUNT);
    const items = found.map(({ id, name, roles }) => {
      // The roles are those that count in this project.
      const scopes = scopesOfRoles(
        roles.map((role) => ({ project: principal.projectName, role })),
        principal.projectName,
      );
      return { id, name, mayWrite: grantsScope(scopes, "tickets:write") };
    });
    const answer: ColleaguesAnswer = { ok: true, items };
    response.set("Cache-Control", "no-store").json(answer);
  };
}

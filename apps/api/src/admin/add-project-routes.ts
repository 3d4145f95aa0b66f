import { LIMITS } from "@svc/contracts";
import type { ProjectInput } from "@svc/contracts";
import { methodNotAllowed, readJsonBody } from "@svc/http";
import { createProject, getProject, listProjects } from "@svc/operations";
import type { Store } from "@svc/store";
import type { IRouter } from "express";
import { sendItem, sendList } from "./admin-answers.ts";
import { forAdministrators } from "./for-administrators.ts";
import { readListQuery } from "./read-list-query.ts";

const PATH = "/api/v1/projects";

/** Projects (service document, section 4.4). Scope admin:*. The operations check what bodies and queries say. */
export function addProjectRoutes(routes: IRouter, context: { store: Store }): void {
  routes
    .route(PATH)
    .get(
      forAdministrators(async (principal, request, response) => {
        sendList(response, await listProjects(context, principal, readListQuery(request)));
      }),
    )
    .post(
      forAdministrators(async (principal, request, response) => {
        const body = (await readJsonBody(request, LIMITS.bodyMaxBytes)) as ProjectInput;
        const item = await createProject(context, principal, body);
        sendItem(response, item, { location: `${PATH}/${item.id}`, version: item.version });
      }),
    )
    .all(methodNotAllowed("GET", "HEAD", "POST"));

  routes
    .route(`${PATH}/:id`)
    .get(
      forAdministrators(async (principal, request, response) => {
        const item = await getProject(context, principal, String(request.params["id"]));
        sendItem(response, item, { version: item.version });
      }),
    )
    .all(methodNotAllowed("GET", "HEAD"));
}

import { LIMITS } from "@svc/contracts";
import type { KeyInput, RotateInput } from "@svc/contracts";
import { methodNotAllowed, readJsonBody } from "@svc/http";
import { createKey, getKey, listKeys, revokeKey, rotateKey } from "@svc/operations";
import type { Store } from "@svc/store";
import type { IRouter } from "express";
import { sendItem, sendList } from "./admin-answers.ts";
import { forAdministrators } from "./for-administrators.ts";
import { readListQuery } from "./read-list-query.ts";
import { readOptionalBody } from "./read-optional-body.ts";

const PATH = "/api/v1/admin/keys";

const locationOf = ({ id }: { id: string }) => `${PATH}/${id}`;

/** API keys (service document, section 4.4). Scope admin:*. The operations check what bodies and queries say. */
export function addKeyRoutes(routes: IRouter, context: { store: Store }): void {
  routes
    .route(PATH)
    .get(
      forAdministrators(async (principal, request, response) => {
        sendList(response, await listKeys(context, principal, readListQuery(request)));
      }),
    )
    .post(
      forAdministrators(async (principal, request, response) => {
        const body = (await readJsonBody(request, LIMITS.bodyMaxBytes)) as KeyInput;
        const item = await createKey(context, principal, body);
        sendItem(response, item, { location: locationOf(item) });
      }),
    )
    .all(methodNotAllowed("GET", "HEAD", "POST"));

  routes
    .route(`${PATH}/:id`)
    .get(
      forAdministrators(async (principal, request, response) => {
        sendItem(response, await getKey(context, principal, String(request.params["id"])));
      }),
    )
    .delete(
      forAdministrators(async (principal, request, response) => {
        sendItem(response, await revokeKey(context, principal, String(request.params["id"])));
      }),
    )
    .all(methodNotAllowed("GET", "HEAD", "DELETE"));

  routes
    .route(`${PATH}/:id/rotate`)
    .post(
      forAdministrators(async (principal, request, response) => {
        const body = (await readOptionalBody(request)) as RotateInput;
        const item = await rotateKey(context, principal, String(request.params["id"]), body);
        sendItem(response, item, { location: locationOf(item) });
      }),
    )
    .all(methodNotAllowed("POST"));
}

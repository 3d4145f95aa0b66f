import { methodNotAllowed } from "@svc/http";
import type { Log } from "@svc/log";
import { getDelivery, listDeliveries, replayDelivery } from "@svc/operations";
import type { DeliveryListInput } from "@svc/operations";
import type { Queues } from "@svc/queue";
import type { Store } from "@svc/store";
import type { IRouter } from "express";
import { sendItem, sendList } from "./admin-answers.ts";
import { readListQuery } from "./read-list-query.ts";
import { withPrincipal } from "./with-principal.ts";

const PATH = "/api/v1/admin/deliveries";

/** The callbacks of a project and their replay. Scopes webhooks:read and webhooks:write. */
export function addDeliveryRoutes(routes: IRouter, context: { store: Store; queues: Queues; log: Log }): void {
  routes
    .route(PATH)
    .get(
      withPrincipal(async (principal, request, response) => {
        const { state } = request.query;
        const input = { ...readListQuery(request), state: state === "" ? undefined : state } as DeliveryListInput;
        sendList(response, await listDeliveries(context, principal, input));
      }),
    )
    .all(methodNotAllowed("GET", "HEAD"));
  routes
    .route(`${PATH}/:id`)
    .get(
      withPrincipal(async (principal, { params }, response) => {
        sendItem(response, await getDelivery(context, principal, String(params["id"])));
      }),
    )
    .all(methodNotAllowed("GET", "HEAD"));
  routes
    .route(`${PATH}/:id/replay`)
    .post(
      withPrincipal(async (principal, { params }, response) => {
        sendItem(response, await replayDelivery(context, principal, String(params["id"])));
      }),
    )
    .all(methodNotAllowed("POST"));
}

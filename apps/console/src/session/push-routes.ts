import { LIMITS, ServiceError, checkInput, pushEndpointSchema, pushSubscriptionSchema } from "@svc/contracts";
import type { PushAnswer } from "@svc/contracts";
import { methodNotAllowed, readJsonBody } from "@svc/http";
import { readPushKeys } from "@svc/runtime";
import type { IRouter, RequestHandler } from "express";
import type { ConsoleContext } from "../console-context.ts";
import { sessionOf, signedIn } from "./signed-in.ts";

/** Adds the routes with which a browser subscribes its operator to push notifications. */
export function addPushRoutes(routes: IRouter, context: ConsoleContext): void {
  const { store } = context;

  const getKey =
    (): RequestHandler =>
    async ({ query: { endpoint } }, response) => {
      const { publicKey } = await readPushKeys(store);
      const isSubscribed =
        typeof endpoint === "string" && (await store.pushSubscriptions.isOf(sessionOf(response).operatorId, endpoint));
      response.set("Cache-Control", "no-store").json({ ok: true, publicKey, isSubscribed } satisfies PushAnswer);
    };
  const subscribe = (): RequestHandler => async (request, response) => {
    const body = await readJsonBody(request, LIMITS.bodyMaxBytes);
    const { endpoint, keys } = checkInput(pushSubscriptionSchema, body, "The subscription");
    const { operatorId } = sessionOf(response);
    if (!(await store.pushSubscriptions.put(operatorId, { endpoint, ...keys }))) {
      throw new ServiceError(
        "invalid_request",
        "You get push notifications in 20 browsers already. Turn off one of them.",
      );
    }
    response.status(204).end();
  };
  const unsubscribe = (): RequestHandler => async (request, response) => {
    const body = await readJsonBody(request, LIMITS.bodyMaxBytes);
    const { endpoint } = checkInput(pushEndpointSchema, body, "The subscription");
    await store.pushSubscriptions.removeOf(sessionOf(response).operatorId, endpoint);
    response.status(204).end();
  };

  routes
    .route("/session/push")
    .all(signedIn(context))
    .get(getKey())
    .post(subscribe())
    .delete(unsubscribe())
    .all(methodNotAllowed("GET", "HEAD", "POST", "DELETE"));
}

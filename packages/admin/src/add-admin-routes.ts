import { requireScope } from "@svc/auth";
import { ADMIN_ENDPOINTS, LIMITS, noBodySchema } from "@svc/contracts";
import type { AdminOperation, Endpoint } from "@svc/contracts";
import { methodNotAllowed, principalOf, readJsonBody } from "@svc/http";
import { checkInput } from "@svc/operations";
import type { IRouter, Request, RequestHandler, Response } from "express";
import { sendItem, sendList } from "./admin-answers.ts";
import type { AdminAnswer, AdminCall, AdminContext, AdminHandler } from "./admin-handler.ts";
import { adminHandlers } from "./admin-handlers.ts";
import { readIfMatch } from "./read-if-match.ts";
import { readListQuery } from "./read-list-query.ts";
import { readOptionalBody } from "./read-optional-body.ts";

/** The router's functions, by the method that they stand for. */
const METHODS = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "delete" } as const;

/** `/kb/{id}` as the router writes it: `/kb/:id`. */
const routePath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** What a handler is told of a request. */
function callOf(endpoint: Endpoint, request: Request, response: Response): AdminCall {
  return {
    principal: principalOf(response),
    param: (name = "id") => String(request.params[name]),
    query(name) {
      const value = request.query[name];
      return value === "" ? undefined : value;
    },
    listQuery: () => readListQuery(request),
    ifMatch: () => readIfMatch(request),
    body() {
      const { maxBytes = LIMITS.bodyMaxBytes, isOptional = false } = endpoint.body ?? {};
      return isOptional ? readOptionalBody(request, maxBytes) : readJsonBody(request, maxBytes);
    },
    request,
    response,
  };
}

function send(response: Response, answer: AdminAnswer): void {
  if (answer === "answered") return;
  if ("list" in answer) {
    if (answer.location !== undefined) response.status(201).setHeader("Location", answer.location);
    sendList(response, answer.list);
  } else if ("item" in answer) {
    sendItem(response, answer.item, answer);
  } else {
    response.status(answer.status ?? 200).setHeader("Cache-Control", "no-store");
    response.json(answer.json);
  }
}

/** Refuses keys without the scope before anything of the request is read, and answers as the handler says. */
function handlerOf(endpoint: Endpoint, handle: AdminHandler, context: AdminContext): RequestHandler {
  return async (request, response) => {
    const call = callOf(endpoint, request, response);
    if (endpoint.scope !== null) requireScope(call.principal, endpoint.scope);
    if (endpoint.alsoScope !== undefined) requireScope(call.principal, endpoint.alsoScope);
    if (endpoint.method !== "GET" && endpoint.body === undefined) {
      // Whoever sends fields means something by them.
      checkInput(noBodySchema, await readOptionalBody(request, LIMITS.bodyMaxBytes), "The body");
    }
    send(response, await handle(context, call));
  };
}

/**
 * The administration endpoints (service document, section 4.4), each as `ADMIN_ENDPOINTS` describes it; other methods of
 * their paths are refused. They belong behind the check of keys.
 */
export function addAdminRoutes(routes: IRouter, context: AdminContext): void {
  const handlers = adminHandlers();
  const byPath = new Map<string, [AdminOperation, Endpoint][]>();
  for (const entry of Object.entries(ADMIN_ENDPOINTS) as [AdminOperation, Endpoint][]) {
    const [, { path }] = entry;
    byPath.set(path, [...(byPath.get(path) ?? []), entry]);
  }
  for (const [path, operations] of byPath) {
    const route = routes.route(routePath(path));
    for (const [name, endpoint] of operations) {
      route[METHODS[endpoint.method]](handlerOf(endpoint, handlers[name], context));
    }
    const methods = operations.map(([, { method }]) => method);
    route.all(methodNotAllowed(...methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))));
  }
}

import type { Principal } from "@svc/auth";
import { ADMIN_ENDPOINTS } from "@svc/contracts";
import type { AdminOperation, Endpoint } from "@svc/contracts";
import { methodNotAllowed } from "../problem.ts";
import { principalOf } from "../authenticated.ts";
import type { OperationOf } from "@svc/operations";
import type { IRouter, RequestHandler } from "express";
import { createHandlers } from "./handlers.ts";
import type { AdminContext, Handler } from "./handlers.ts";
import { readArguments, rejectBody } from "./read-arguments.ts";
import { sendResult } from "./send-result.ts";

/** Endpoints that the operation of their name implements. It takes and returns what the endpoint's schemas describe. */
type PlainOperation = Exclude<AdminOperation, keyof ReturnType<typeof createHandlers>>;
type PlainOperations = { [Name in PlainOperation]: OperationOf<Name, AdminContext> };

/** Names of the router's methods. */
const METHODS = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "delete" } as const;

/** Returns the path in the router's syntax: `/kb/:id` for `/kb/{id}`. */
const routePath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** Any of `PlainOperations`: its arguments are read from the request by the same endpoint that its type is made from. */
type AnyOperation = (context: AdminContext, principal: Principal, ...args: unknown[]) => Promise<object>;

/** Returns the handler that calls an operation and sends its result. */
function operationHandler(endpoint: Endpoint, operation: AnyOperation): Handler {
  return async (context, request, response) => {
    const args = await readArguments(endpoint, request, response);
    await sendResult(endpoint, request, response, await operation(context, principalOf(response), ...args));
  };
}

/** Rejects principals without the scope before the request is read. */
function routeHandler(name: AdminOperation, handle: Handler, context: AdminContext): RequestHandler {
  const endpoint: Endpoint = ADMIN_ENDPOINTS[name];
  return async (request, response) => {
    context.operations.requireScopeOf(principalOf(response), name);
    if (endpoint.method !== "GET" && endpoint.body === undefined) await rejectBody(request);
    await handle(context, request, response);
  };
}

/**
 * Adds the administration endpoints (service document, section 4.4) as `ADMIN_ENDPOINTS` describes them; other methods of
 * their paths are rejected. The routes must come after the authentication.
 */
export function addAdminRoutes(routes: IRouter, context: AdminContext): void {
  const handlers: Partial<Record<AdminOperation, Handler>> = createHandlers(context);
  const operations: PlainOperations = context.operations;
  const byPath = new Map<string, [AdminOperation, Endpoint][]>();
  for (const entry of Object.entries(ADMIN_ENDPOINTS) as [AdminOperation, Endpoint][]) {
    const [, { path }] = entry;
    byPath.set(path, [...(byPath.get(path) ?? []), entry]);
  }
  for (const [path, endpoints] of byPath) {
    const route = routes.route(routePath(path));
    for (const [name, endpoint] of endpoints) {
      const handle = handlers[name] ?? operationHandler(endpoint, operations[name as PlainOperation] as AnyOperation);
      route[METHODS[endpoint.method]](routeHandler(name, handle, context));
    }
    const methods = endpoints.map(([, { method }]) => method);
    route.all(methodNotAllowed(...methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))));
  }
}

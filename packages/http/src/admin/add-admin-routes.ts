import type { IRouter, Request, RequestHandler, Response } from "express";
import type { Principal } from "@svc/auth";
import {
  ADMIN_ENDPOINTS,
  LIMITS,
  ServiceError,
  checkInput,
  noBodySchema,
  pathParameters,
  queryParameters,
  takesTarget,
} from "@svc/contracts";
import type { AdminOperation, Endpoint, EndpointBody } from "@svc/contracts";
import type { ExpectedVersions, OperationOf } from "@svc/operations";
import { principalOf } from "../authenticated.ts";
import { readJsonBody } from "../json-body.ts";
import { methodNotAllowed } from "../problem.ts";
import { createHandlers } from "./handlers.ts";
import type { AdminContext, Handler } from "./handlers.ts";
import { sendResult } from "./send-result.ts";

const WHOLE_NUMBER = /^\d{1,6}$/;
const TAGS = /^\s*(?:W\/)?"[^"]*"\s*(?:,\s*(?:W\/)?"[^"]*"\s*)*$/;

/** Lists without a search reject this parameter; others ignore it. */
const SEARCH = { name: "q", isInteger: false, isOptional: true };

/**
 * Returns the query parameters that the endpoint has. An empty optional parameter counts as absent. The operation checks
 * the values: a repeated parameter is a list, and a page size that is not a number stays a string.
 */
function readQuery(endpoint: Endpoint, { query }: Request): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, isInteger, isOptional } of [SEARCH, ...queryParameters(endpoint)]) {
    const value = query[name];
    if (value === undefined || (value === "" && isOptional && !isInteger)) continue;
    values[name] = isInteger && typeof value === "string" && WHOLE_NUMBER.test(value) ? Number(value) : value;
  }
  return values;
}

/** Returns the JSON body of a request; an empty object if it can be omitted and is. Throws as `readJsonBody`. */
async function readBody(body: Pick<EndpointBody, "maxBytes" | "isOptional">, request: Request): Promise<unknown> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  const isEmpty = encoding === undefined && (length === undefined || Number(length) === 0);
  if (isEmpty && body.isOptional === true) return {};
  return readJsonBody(request, body.maxBytes ?? LIMITS.bodyMaxBytes);
}

/** Throws invalid_request for fields in the body of an endpoint that takes none. */
async function rejectBody(request: Request): Promise<void> {
  checkInput(noBodySchema, await readBody({ isOptional: true }, request), "The body");
}

/**
 * Returns the versions in `If-Match` (RFC 9110, section 13.1.1): null without the header and for `*`. A weak tag, or a tag
 * that is not a version number, matches nothing. Throws invalid_request if the header is not a list of tags.
 */
function readIfMatch({ headers }: Request): ExpectedVersions {
  const text = headers["if-match"];
  if (text === undefined || text.trim() === "*") return null;
  if (!TAGS.test(text)) {
    throw new ServiceError(
      "invalid_request",
      'If-Match must be an ETag exactly as it was returned, including the quotes, such as "3".',
    );
  }
  const strong = [...text.matchAll(/(W\/)?"([^"]*)"/g)].filter(([, weak]) => weak === undefined);
  return strong.flatMap(([, , tag = ""]) => (/^\d{1,9}$/.test(tag) ? [Number(tag)] : []));
}

/** Returns a signal that is aborted when the client disconnects. */
function disconnectSignal(response: Response): AbortSignal {
  const disconnect = new AbortController();
  response.once("close", () => disconnect.abort());
  return disconnect.signal;
}

/**
 * Returns the arguments of an endpoint's operation, as in `OperationArguments`: path parameters or target, then body or
 * query. Throws invalid_request, invalid_json, payload_too_large and unsupported_media_type.
 */
async function readArguments(endpoint: Endpoint, request: Request, response: Response): Promise<unknown[]> {
  const ids = pathParameters(endpoint).map((name) => request.params[name]);
  const target = {
    id: ids[0],
    ...(endpoint.ifMatch !== undefined && { versions: readIfMatch(request) }),
    ...(endpoint.isCancellable === true && { signal: disconnectSignal(response) }),
  };
  const args: unknown[] = takesTarget(endpoint) ? [target] : ids;
  if (endpoint.body !== undefined) args.push(await readBody(endpoint.body, request));
  else if (endpoint.query !== undefined) args.push(readQuery(endpoint, request));
  return args;
}

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

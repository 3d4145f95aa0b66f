import type { ErrorRequestHandler, Request, Response } from "express";
import { ERRORS, ServiceError, describeInvalid, describeIssue } from "@svc/contracts";
import type { ErrorCode, FieldError, Problem, SchemaIssue } from "@svc/contracts";
import type { Log } from "@svc/log";
import { traceIdOf } from "@svc/telemetry";
import type { Span } from "@svc/telemetry";

const SPAN = Symbol("span");

interface WithSpan {
  [SPAN]?: Span;
}

/** Sets the span of a request, for `traceOf`. */
export function setSpan(response: Response, span: Span): void {
  (response as Response & WithSpan)[SPAN] = span;
}

/**
 * Returns the `traceparent` for work on behalf of a request: its own span if tracing is on, else that of its client;
 * null if there is neither.
 */
export function traceOf(response: Response): string | null {
  return (response as Response & WithSpan)[SPAN]?.traceparent ?? null;
}

/** An error response that is ready to be sent. */
interface ProblemResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Default `Retry-After` of an unavailable service, in seconds. */
const UNAVAILABLE_RETRY_S = "2";

/** Returns an error as RFC 9457 problem+json, in the common format. */
export function problemResponse(request: Request, response: Response, error: ServiceError): ProblemResponse {
  const { status, title } = ERRORS[error.code];
  const problem: Problem = {
    ok: false,
    type: `urn:svc:error:${error.code}`,
    title,
    status,
    code: error.code,
    detail: error.message,
    instance: request.path,
    requestId: String(response.getHeader("X-Request-Id") ?? ""),
    ...(error.quota === undefined ? {} : { quota: error.quota }),
    ...(error.errors === undefined ? {} : { errors: error.errors }),
  };
  const wait = error.code === "unavailable" ? { "Retry-After": UNAVAILABLE_RETRY_S } : {};
  const headers = {
    ...wait,
    ...error.headers,
    "Cache-Control": "no-store",
    "Content-Type": "application/problem+json",
  };
  return { status, headers, body: JSON.stringify(problem) };
}

/** Sends an error as problem+json. */
export function sendProblem(request: Request, response: Response, error: ServiceError): void {
  const { status, headers, body } = problemResponse(request, response, error);
  response.status(status).set(headers).send(body);
}

/** Returns an error of express or its router as a ServiceError; null for any other error. */
function fromExpress(error: unknown): ServiceError | null {
  const status: unknown = error instanceof Error && "status" in error ? error.status : undefined;
  // A path such as /%E0%A4%A is not UTF-8.
  if (error instanceof URIError || status === 400) {
    return new ServiceError(
      "invalid_request",
      "The path is not valid: each percent sign must start a percent-encoded byte.",
    );
  }
  return null;
}

/** Returns the route of a request, without values from the caller: a path may contain a misplaced key. */
export function routeOf(request: Request): string | undefined {
  const route: unknown = request.route;
  const path = typeof route === "object" && route !== null && "path" in route ? route.path : undefined;
  return typeof path === "string" ? `${request.baseUrl}${path}` : undefined;
}

/** Called after each response with 401 or 403; must not throw. */
export type OnDenial = (request: Request, response: Response, error: ServiceError) => void;

/** Log messages of errors that are the service's own state. */
const LOGGED: Partial<Record<ErrorCode, string>> = {
  busy: "all database connections are in use",
  unavailable: "service unavailable",
};

/** Statuses of denied requests, which depend on the caller. */
const DENIAL_STATUSES: readonly number[] = [401, 403];

/**
 * Returns the last handler, which turns thrown errors into responses. Unexpected errors are internal errors: the client
 * gets only the request id, and the log the details.
 */
export function problemHandler(log: Log, onDenial?: OnDenial): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const requestId = response.getHeader("X-Request-Id");
    if (response.headersSent) {
      log.warn({ error, requestId }, "request failed after the response had started");
      // Close the connection, so that the client does not consider a partial response complete.
      response.destroy();
      return;
    }
    const known = error instanceof ServiceError ? error : fromExpress(error);
    if (known !== null) {
      const logged = LOGGED[known.code];
      if (logged !== undefined) log.debug({ error: known, requestId }, logged);
      sendProblem(request, response, known);
      if (DENIAL_STATUSES.includes(ERRORS[known.code].status)) onDenial?.(request, response, known);
      return;
    }
    if (response.destroyed && error instanceof Error && error.name === "AbortError") {
      log.debug({ requestId }, "client disconnected; request aborted");
      return;
    }
    const traceId = traceIdOf(traceOf(response));
    log.error({ error, requestId, traceId, route: routeOf(request), method: request.method }, "request failed");
    sendProblem(
      request,
      response,
      new ServiceError("internal", "Internal error. Quote the request ID when you report it."),
    );
  };
}

/** Throws not_found, for requests that match no route. */
export function notFound(): never {
  throw new ServiceError(
    "not_found",
    "No resource exists at this path. For the available endpoints, see /api/v1/docs.",
  );
}

/** Returns a handler for the other methods of a path. */
export function methodNotAllowed(...allowed: string[]) {
  return (request: Request): never => {
    throw new ServiceError(
      "method_not_allowed",
      `This path does not support ${request.method}. Use ${allowed.join(" or ")}.`,
      {
        headers: { Allow: allowed.join(", ") },
      },
    );
  };
}

interface Issue extends SchemaIssue {
  path: PropertyKey[];
}

/** Returns the errors of a schema, with JSON Pointers into the checked value. */
export function invalidRequest(issues: readonly Issue[], what = "The request"): ServiceError {
  const errors = issues.map((issue): FieldError => ({
    pointer: issue.path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(""),
    ...describeIssue(issue),
  }));
  return new ServiceError("invalid_request", describeInvalid(what, errors), { errors });
}

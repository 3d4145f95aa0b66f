import type { Log } from "@svc/log";
import type { RequestHandler } from "express";
import { traceIdOf } from "@svc/telemetry";
import { routeOf } from "./problem.ts";
import { traceOf } from "./trace-of.ts";

/**
 * Logs each request when its answer is over, at level debug: request id, trace id, method, route, status and time. The route and
 * not the path, since whatever a caller puts into a path may be a secret.
 */
export function requestLog(log: Log): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.once("close", () => {
      const ms = Math.round(performance.now() - startedAt);
      const status = response.headersSent ? response.statusCode : null;
      const requestId = response.getHeader("X-Request-Id");
      const traceId = traceIdOf(traceOf(response));
      log.debug({ requestId, traceId, method: request.method, route: routeOf(request), status, ms }, "request");
    });
    next();
  };
}

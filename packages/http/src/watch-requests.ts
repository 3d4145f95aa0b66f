import { addToGauge, count, observe, startSpan } from "@svc/telemetry";
import type { Request, RequestHandler } from "express";
import { findRoute } from "./find-route.ts";
import { isMonitorPath } from "./health-routes.ts";
import { routeOf } from "./problem.ts";
import { setSpan } from "./trace-of.ts";

/** What a request is counted under that no route has taken: whatever a caller puts into a path makes no figure of its own. */
const NO_ROUTE = "none";

/** Routes as express writes them, in the form of the contract: `/api/v1/messages/{chatId}`. */
const forms = new Map<string, string>();

function labelOf(request: Request): string {
  const route = routeOf(request);
  if (route === undefined) return findRoute(request.path) ?? NO_ROUTE;
  const known = forms.get(route);
  if (known !== undefined) return known;
  const form = route.replaceAll(/:(\w+)/g, "{$1}");
  forms.set(route, form);
  return form;
}

/** Counts and times the requests of an app by their routes, and makes each a span of the trace that its caller names. */
export function watchRequests(app: string): RequestHandler {
  return (request, response, next) => {
    if (isMonitorPath(request.path)) {
      next();
      return;
    }
    const startedAt = performance.now();
    const { method } = request;
    const given = request.headers["traceparent"];
    const span = startSpan(method, { parent: typeof given === "string" ? given : null, kind: "server" });
    setSpan(response, span);
    addToGauge("svc_http_requests_in_progress", { app }, 1);
    response.once("close", () => {
      const route = labelOf(request);
      const status = response.headersSent ? String(response.statusCode) : "none";
      addToGauge("svc_http_requests_in_progress", { app }, -1);
      count("svc_http_requests_total", { app, method, route, status });
      observe("svc_http_request_duration_seconds", { app, method, route }, (performance.now() - startedAt) / 1_000);
      span.rename(`${method} ${route}`);
      span.annotate({
        "http.request.method": method,
        "http.route": route,
        "http.response.status_code": response.headersSent ? response.statusCode : 0,
        "svc.request_id": String(response.getHeader("X-Request-Id")),
      });
      if (response.statusCode >= 500 || !response.writableFinished) span.fail(null);
      span.end();
    });
    next();
  };
}

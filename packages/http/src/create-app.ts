import { randomUUID } from "node:crypto";
import express from "express";
import type { Express, Request, RequestHandler, Response } from "express";
import { ENDPOINTS } from "@svc/contracts";
import type { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { NewAuditEvent, Store } from "@svc/store";
import { addToGauge, count, observe, startSpan, traceIdOf } from "@svc/telemetry";
import { callerOf } from "./authenticated.ts";
import { clientNetwork, isPrivateAddress } from "./client-address.ts";
import { isMonitorPath, sendHealth, sendLocalMetrics } from "./health-routes.ts";
import { listen } from "./listen.ts";
import type { ListenAddress, Listening } from "./listen.ts";
import { notFound, problemHandler, routeOf, setSpan, traceOf } from "./problem.ts";
import type { OnDenial } from "./problem.ts";

/** The paths of all endpoints, split at slashes, by number of parts. */
const PATHS = new Map<number, { path: string; parts: string[] }[]>();
for (const path of new Set(Object.values(ENDPOINTS).map((endpoint) => endpoint.path))) {
  const parts = path.split("/");
  PATHS.set(parts.length, [...(PATHS.get(parts.length) ?? []), { path, parts }]);
}

/**
 * Returns the path of a request's endpoint, such as `/api/v1/admin/agents/{id}`; null if there is none. It contains no
 * values from the caller, since a path may contain a misplaced key.
 */
export function findRoute(path: string): string | null {
  const asked = path.replace(/\/$/, "").split("/");
  const isFor = ({ parts }: { parts: string[] }) =>
    parts.every((part, index) => part === asked[index] || (part.startsWith("{") && asked[index] !== ""));
  const found = (PATHS.get(asked.length) ?? []).filter(isFor);
  // Literal parts have priority over parameters.
  const wildcards = (one: string) => one.split("{").length;
  return found.toSorted((one, other) => wildcards(one.path) - wildcards(other.path))[0]?.path ?? null;
}

/** Route label of requests without a route, so that paths of callers create no time series. */
const NO_ROUTE = "none";

/** Routes of express in the notation of the contract: `/api/v1/messages/{chatId}`. */
const forms = new Map<string, string>();

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/** Adds an `X-Request-Id` to every response: that of the request if it is valid, else a new one. */
export const requestId: RequestHandler = (request, response, next) => {
  const given = request.headers["x-request-id"];
  response.setHeader("X-Request-Id", typeof given === "string" && SANE.test(given) ? given : randomUUID());
  next();
};

/**
 * Logs each completed request at level debug: request id, trace id, method, route, status and time. The route and not
 * the path, which may contain a secret.
 */
function requestLog(log: Log): RequestHandler {
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

/**
 * Logs once that requests come through an untrusted proxy and share the limits of its address. Headers that internet
 * clients send themselves are not reported.
 */
function reportProxy(log: Log): RequestHandler {
  let isReported = false;
  return (request, _response, next) => {
    const { remoteAddress = "" } = request.socket;
    const isTrusted = request.app.get("trust proxy fn") as (address: string, hop: number) => boolean;
    const isForwarded = request.headers["x-forwarded-for"] !== undefined;
    if (!isReported && isForwarded && isPrivateAddress(remoteAddress) && !isTrusted(remoteAddress, 0)) {
      isReported = true;
      const problem = `requests with X-Forwarded-For come from ${remoteAddress}, which SVC_TRUST_PROXY does not list`;
      log.warn({}, `${problem}: if it is your proxy, list it; its callers share the limits of one address until then`);
    }
    next();
  };
}

/**
 * Creates an express application with the common parts of every HTTP surface: request ids, security headers, and errors
 * as problem+json. `addRoutes` adds routes before the last handlers. `trustProxy` lists the addresses and networks of
 * proxies whose `X-Forwarded-For` is trusted. `onDenial` is called for each response with 401 or 403. Requests are
 * counted under the name of the `app`; with `showsMetrics`, clients on this machine can read the metrics of the process
 * at `/metrics`.
 */
export function createApp(
  log: Log,
  addRoutes: (app: Express) => void,
  {
    trustProxy = [],
    onDenial,
    app: name = "other",
    showsMetrics = false,
  }: { trustProxy?: readonly string[]; onDenial?: OnDenial; app?: string; showsMetrics?: boolean } = {},
): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");
  app.set("case sensitive routing", true);
  app.set("trust proxy", [...trustProxy]);
  app.use(requestId);
  app.use(watchRequests(name));
  app.use(reportProxy(log));
  app.use((_request, response, next) => {
    response.setHeader("X-Content-Type-Options", "nosniff");
    next();
  });
  if (log.isLevelEnabled("debug")) app.use(requestLog(log));
  if (showsMetrics) {
    app.use((request, response, next) => {
      if (!sendLocalMetrics(request.path, request, response)) next();
    });
  }
  addRoutes(app);
  app.use(notFound);
  app.use(problemHandler(log, onDenial));
  return app;
}

function labelOf(request: Request): string {
  const route = routeOf(request);
  if (route === undefined) return findRoute(request.path) ?? NO_ROUTE;
  const known = forms.get(route);
  if (known !== undefined) return known;
  const form = route.replaceAll(/:(\w+)/g, "{$1}");
  forms.set(route, form);
  return form;
}

/** Counts and times the requests of an app by route, and creates a span in the caller's trace for each. */
function watchRequests(app: string): RequestHandler {
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

/** Records denied requests in the audit log. */
export interface DenialAudit {
  /** Records a request that was answered with 401 or 403. Returns at once and never throws. */
  note(request: Request, response: Response, error: ServiceError): void;
  /** Stores the counted denials, and waits until everything is stored. */
  close(): Promise<void>;
}

/** Time in which equal denials are counted into one row, in milliseconds. */
const WINDOW_MS = 60_000;
/** Maximum of different denials per window with rows of their own; the others of a kind are counted together. */
const MAX_GROUPS = { anonymous: 100, key: 500 };

interface Group {
  event: NewAuditEvent;
  /** Number of denials after the one with a row. */
  further: number;
}

/** Facts about denials that are counted together. */
const TOGETHER = { object: null, network: null, project: null, requestId: null };

/** Actor of a denied request without a valid key, of which the network is recorded. */
const ANONYMOUS = "anonymous";

/** Returns the event of a denied request. `route` has no values from the caller. */
function denialOf(request: Request, response: Response, error: ServiceError, route: string | null): NewAuditEvent {
  const { actor, project } = callerOf(response);
  return {
    action: "http.denied",
    actor: actor ?? ANONYMOUS,
    network: actor === null ? clientNetwork(request) : null,
    object: route === null ? null : `${request.method} ${route}`,
    project,
    result: error.code,
    requestId: String(response.getHeader("X-Request-Id")),
    count: 1,
  };
}

/**
 * Creates the audit of denials. Of equal ones (the same key, or the same network without one; the same code; the same
 * route) the first gets a row at once, and those within the next minute get one row together, so that nobody can flood
 * the audit log. Memory is bounded, and no request waits for a row. `findRoute` returns the route of a path without
 * values from the caller, or null.
 */
export function createDenialAudit({
  store,
  log,
  findRoute,
}: {
  store: Store;
  log: Log;
  findRoute: (path: string) => string | null;
}): DenialAudit {
  const groups = { anonymous: new Map<string, Group>(), key: new Map<string, Group>() };
  const writing = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  function write(event: NewAuditEvent): void {
    const written = store.audit
      .append(event)
      .catch((error: unknown) => log.warn({ error, event }, "failed to record a denied request in the audit log"))
      .finally(() => writing.delete(written));
    writing.add(written);
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const group of [...groups.anonymous.values(), ...groups.key.values()]) {
      // The row stands for many requests, so it names none of them.
      if (group.further > 0) write({ ...group.event, requestId: null, count: group.further });
    }
    groups.anonymous.clear();
    groups.key.clear();
  }

  function count(kind: keyof typeof groups, event: NewAuditEvent, isOneOfMany = false): void {
    const name = JSON.stringify([event.actor, event.network, event.result, event.object]);
    const known = groups[kind].get(name);
    if (known !== undefined) {
      known.further++;
    } else if (groups[kind].size < MAX_GROUPS[kind] || isOneOfMany) {
      groups[kind].set(name, { event, further: 0 });
      write(event);
    } else {
      count(kind, { ...event, ...TOGETHER, actor: kind === "key" ? "keys" : event.actor }, true);
    }
    timer ??= setTimeout(flush, WINDOW_MS).unref();
  }

  return {
    note(request, response, error) {
      const event = denialOf(request, response, error, findRoute(request.path));
      count(event.actor === ANONYMOUS ? ANONYMOUS : "key", event);
    },

    async close() {
      flush();
      await Promise.all(writing);
    },
  };
}

/** Time that responses have to end when a server closes. */
const CLOSE_DEADLINE_MS = 3_000;

/** What an HTTP server of the product serves. */
interface HttpServerOptions {
  /** Name in metrics. */
  app: string;
  /** Name in the log, such as "HTTP API". */
  title: string;
  store: Store;
  log: Log;
  config: { trustProxy: readonly string[]; ports: { metrics?: number | undefined } };
  /** Returns why the service cannot work right now, or null. */
  findProblem: () => Promise<string | null>;
  addRoutes: (routes: Express) => void;
  /** Returns the route of a path for the audit log, without values from the caller, or null if it is none. */
  findRoute?: (path: string) => string | null;
  /** Returns true for an error that needs no row of a denied request in the audit log. */
  isRecorded: (error: ServiceError) => boolean;
}

/** A server with the health routes, the audit of denied requests, and a shutdown without lost requests. */
export interface HttpServer {
  /** Returns why the service is not ready, or null. "stopping" after `drain`. */
  findProblem: () => Promise<string | null>;
  /** Listens until `close`. Throws as `listen`. */
  listen: (address: ListenAddress) => Promise<Listening>;
  /** Makes the service unready. From now on responses close their connections. */
  drain: () => void;
  /** Stops listening: waits at most three seconds for responses, and until denied requests are in the audit log. */
  close: () => Promise<void>;
}

/** Creates the server of an app. */
export function serveHttp({ app: name, title, store, log, config, ...options }: HttpServerOptions): HttpServer {
  const denials = createDenialAudit({ store, log, findRoute: options.findRoute ?? findRoute });
  let isDraining = false;
  let listening: Listening | null = null;
  const findProblem = async () => (isDraining ? "stopping" : options.findProblem());
  const addRoutes = (routes: Express) => {
    routes.use((request, response, next) => {
      if (isDraining) response.setHeader("Connection", "close");
      if (!sendHealth(request.path, response, { findProblem })) next();
    });
    options.addRoutes(routes);
  };
  const app = createApp(log, addRoutes, {
    trustProxy: config.trustProxy,
    app: name,
    showsMetrics: config.ports.metrics === undefined,
    onDenial(request, response, error) {
      if (!options.isRecorded(error)) denials.note(request, response, error);
    },
  });
  return {
    findProblem,
    async listen(address) {
      listening = await listen(app, address);
      log.info({ host: address.host, port: listening.port }, `${title} listening`);
      return listening;
    },
    drain() {
      isDraining = true;
    },
    async close() {
      const closed = listening?.close(CLOSE_DEADLINE_MS);
      listening = null;
      await closed;
      await denials.close();
    },
  };
}

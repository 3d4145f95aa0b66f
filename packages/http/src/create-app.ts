import type { Log } from "@svc/log";
import express from "express";
import type { Express } from "express";
import { notFound, problemHandler } from "./problem.ts";
import type { OnDenial } from "./problem.ts";
import { requestId } from "./request-id.ts";
import { requestLog } from "./request-log.ts";
import { answerLocalMetrics } from "./health-routes.ts";
import { watchRequests } from "./watch-requests.ts";

/**
 * An express application with what every HTTP surface of the product shares: request ids, safe headers, and errors as
 * problem+json. `addRoutes` gets it before the last handlers are put on. `trustProxy` names the addresses and networks
 * of the proxies whose `X-Forwarded-For` is believed; without any, nobody's is. `onDenial` is told of each request that was
 * answered with 401 or 403. Requests are counted under the name of the `app`; with `showsMetrics`, callers on this machine
 * find the figures of the process at `/metrics`.
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
  app.use((_request, response, next) => {
    response.setHeader("X-Content-Type-Options", "nosniff");
    next();
  });
  if (log.isLevelEnabled("debug")) app.use(requestLog(log));
  if (showsMetrics) {
    app.use((request, response, next) => {
      if (!answerLocalMetrics(request.path, request, response)) next();
    });
  }
  addRoutes(app);
  app.use(notFound);
  app.use(problemHandler(log, onDenial));
  return app;
}

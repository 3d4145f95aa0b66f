import { answerHealth, methodNotAllowed } from "@svc/http";
import type { HealthSource } from "@svc/http";
import type { Config } from "@svc/runtime";
import type { Express } from "express";
import { crossOrigin } from "./cross-origin.ts";
import { getFile, postFile } from "./file-routes.ts";
import { getConfig } from "./get-config.ts";
import { limitBodyTime } from "./limit-body-time.ts";
import { postMessage } from "./post-message.ts";
import { addClientRoutes } from "./serve-client.ts";
import { addDemoRoutes, isDemoShown } from "./serve-demo.ts";
import { SOCKET_PATH } from "./sockets/open-sockets.ts";
import type { Sockets } from "./sockets/open-sockets.ts";
import type { WidgetContext } from "./widget-context.ts";

const FILES_PATH = "/api/widget/files";
/** Until when a body has to be there. */
const BODY_MS = 30_000;

/** What the routes need besides. */
export interface RoutesContext extends WidgetContext, HealthSource {
  config: Config;
  sockets: Sockets;
}

/** Adds every address of the widget's port. */
export function addWidgetRoutes(routes: Express, context: RoutesContext): void {
  const inTime = limitBodyTime(BODY_MS);
  const { config, readSite, sockets } = context;
  routes.use((request, response, next) => {
    if (!answerHealth(request.path, response, context)) next();
  });
  // The port leaves files a long time; nothing else needs it.
  routes.use((request, response, next) => {
    if (request.path === FILES_PATH) next();
    else inTime(request, response, next);
  });
  addClientRoutes(routes, methodNotAllowed("GET", "HEAD"));
  routes.use("/api/widget", crossOrigin(readSite));
  routes.route("/api/widget/config/:apiKey").get(getConfig(context)).all(methodNotAllowed("GET", "HEAD"));
  routes.route("/api/widget/message").post(postMessage(context)).all(methodNotAllowed("POST"));
  routes.route(FILES_PATH).post(postFile(context)).all(methodNotAllowed("POST"));
  routes.route("/api/widget/files/:fileId").get(getFile(context)).all(methodNotAllowed("GET", "HEAD"));
  routes.route(SOCKET_PATH).get(sockets.handler).post(sockets.handler).all(methodNotAllowed("GET", "POST"));
  addDemoRoutes(routes, {
    isLocal: isDemoShown(config),
    readKey: async () => (await readSite()).settings.apiKey,
  });
}

import type { ServiceError } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { Store } from "@svc/store";
import type { Express } from "express";
import { createApp, findRoute as findApiRoute } from "./create-app.ts";
import { createDenialAudit } from "./denial-audit.ts";
import { sendHealth } from "./health-routes.ts";
import { listen } from "./listen.ts";
import type { ListenAddress, Listening } from "./listen.ts";

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
  const denials = createDenialAudit({ store, log, findRoute: options.findRoute ?? findApiRoute });
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

import { acceptMessage } from "@svc/channel-manager";
import { ServiceError, localUrl } from "@svc/contracts";
import type { Channel, RunningService, Service } from "@svc/contracts";
import { addAdminRoutes, createHookIntake, createRateLimit, findRoute, methodNotAllowed, serveHttp } from "@svc/http";
import type { HookIntakeContext } from "@svc/http";
import type { AddressGuard } from "@svc/outbound";
import { createFetchGuard, createWebhookGuard } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import { createSessionCheck } from "@svc/auth";
import * as operations from "@svc/operations";
import type { Express } from "express";
import {
  checkHost,
  checkPage,
  createDeviceCookie,
  createSessionCookie,
  inProject,
  signedIn,
} from "./session/signed-in.ts";
import type { ConsoleContext } from "./session/signed-in.ts";
import { createEventHub } from "./events/create-event-hub.ts";
import { postPresence, streamEvents } from "./events/stream-events.ts";
import { createSignInLimit } from "./session/create-sign-in-limit.ts";
import { addOidcRoutes } from "./session/oidc-routes.ts";
import { openOidc } from "./session/open-oidc.ts";
import {
  deleteSavedView,
  listSavedViews,
  putSavedView,
  getColleagues,
  getMentions,
  getServicePorts,
} from "./session/operator-routes.ts";
import { addPushRoutes, addSessionRoutes } from "./session/session-routes.ts";
import { securityHeaders, addWebRoutes } from "./web/serve-web.ts";

const neverHere = () => Promise.reject(new Error("replies on the HTTP API channel are announced by its own processes"));

/** The HTTP API's channel, as needed to accept a message here: its replies are announced where the channel runs. */
const API_CHANNEL: Channel = {
  id: "api",
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  onMessage: () => undefined,
  sendMessage: neverHere,
  sendAttachment: neverHere,
};

/** Creates the function that replays the body of a hook, as if the HTTP API received it at that moment. */
function createBodyReceiver(resources: Resources, guard: AddressGuard): ReturnType<typeof createHookIntake> {
  const { store } = resources;
  const receive: HookIntakeContext["receive"] = async (message, context) => {
    const { enabled } = await store.channelsConfig.read();
    if (!enabled.includes("api")) {
      throw new ServiceError("channel_disabled", "The HTTP API channel is disabled. Enable it under Integrations.", {
        headers: { "Retry-After": "30" },
      });
    }
    return acceptMessage(resources, API_CHANNEL, message, context);
  };
  const readSettings = async () => (await store.channelsConfig.read()).api.config;
  return createHookIntake({ operations, store, guard, readSettings, receive });
}

const FOLLOW_SETTINGS_MS = 5_000;

/** Paths that only pages of the console call. */
const OWN_CALLS = ["/session", "/sessions", "/link/look", "/sign-in-ways", "/events", "/presence", "/api"];
/** The console's own paths, whose denied calls are recorded in the audit log. */
const OWN_PATHS = [
  "/session",
  "/sessions",
  "/session/colleagues",
  "/session/mentions",
  "/session/password",
  "/session/profile",
  "/session/notifications",
  "/session/push",
  "/session/places",
  "/session/views",
  "/link",
  "/link/look",
  "/events",
  "/presence",
];

/**
 * The operator console: its pages, the session of the operator, and the same administration endpoints that the HTTP API
 * provides for keys. It has no rules of its own: the permissions of operators are the scopes of their roles.
 */
// oxlint-disable-next-line max-lines-per-function -- the composition of the service
export function consoleService(resources: Resources): Service {
  const { config, store, queues, log } = resources;

  // oxlint-disable-next-line max-lines-per-function -- the composition of the service
  async function start(): Promise<RunningService> {
    const settings = await store.channelsConfig.read();
    const host = config.bindHost ?? "127.0.0.1";
    const closing = new AbortController();
    const hub = createEventHub({ store, queues, log });
    const addresses = { bindHost: host, publicUrls: config.publicUrls, trustProxy: config.trustProxy };
    const cookie = createSessionCookie(config.publicUrls);
    const context: ConsoleContext = {
      store,
      queues,
      log,
      sessions: createSessionCheck({ store, log }),
      cookie,
      devices: createDeviceCookie(store.sealer, cookie),
      rateLimit: createRateLimit(queues.counters),
      signInLimit: createSignInLimit(queues.counters),
      hub,
      oidc: config.oidc === undefined ? null : openOidc(config.oidc),
      sendsEmails: config.email !== undefined,
      closing: closing.signal,
    };
    // The bind address of the HTTP API is a setting that may change at any time.
    let apiHost = config.bindHost ?? settings.api.config.bindHost;
    const followHost = setInterval(() => {
      store.channelsConfig.read().then(
        (now) => {
          apiHost = config.bindHost ?? now.api.config.bindHost;
        },
        (error: unknown) =>
          log.debug({ error }, "failed to read the settings; the URL of the HTTP API stays unchanged"),
      );
    }, FOLLOW_SETTINGS_MS).unref();
    const guard = createWebhookGuard(config, () => apiHost);

    const addRoutes = (routes: Express) => {
      routes.use(securityHeaders);
      routes.use(checkHost(addresses));
      routes.use(OWN_CALLS, checkPage(config.publicUrls));
      routes.post("/link", checkPage(config.publicUrls));
      addSessionRoutes(routes, context);
      addPushRoutes(routes, context);
      if (context.oidc !== null) addOidcRoutes(routes, context, context.oidc, addresses);
      const check = signedIn(context);
      const choose = inProject(context);
      routes
        .route("/session/colleagues")
        .get(check, choose, getColleagues(context))
        .all(methodNotAllowed("GET", "HEAD"));
      routes.route("/session/mentions").get(check, choose, getMentions(context)).all(methodNotAllowed("GET", "HEAD"));
      routes
        .route("/session/views")
        .get(check, listSavedViews(context))
        .put(check, choose, putSavedView(context))
        .delete(check, choose, deleteSavedView(context))
        .all(methodNotAllowed("GET", "HEAD", "PUT", "DELETE"));
      routes.route("/session/places").get(check, getServicePorts(config)).all(methodNotAllowed("GET", "HEAD"));
      routes.route("/events").get(check, streamEvents(context)).all(methodNotAllowed("GET", "HEAD"));
      routes.route("/presence").post(check, choose, postPresence(context)).all(methodNotAllowed("POST"));
      routes.use("/api/v1", check, choose);
      addAdminRoutes(routes, {
        ...resources,
        operations,
        fetchGuard: createFetchGuard(config),
        guard,
        receiveHookBody: createBodyReceiver(resources, guard),
        maxOpenCalls: config.ceilings.openCalls,
        closing: closing.signal,
      });
      routes.use("/api", () => {
        throw new ServiceError("not_found", "The console has no such endpoint.");
      });
      addWebRoutes(routes);
    };
    const server = serveHttp({
      app: "console",
      title: "console",
      store,
      log,
      config,
      findProblem: () => store.findProblem(),
      addRoutes,
      findRoute: (path) => (OWN_PATHS.includes(path) ? path : findRoute(path)),
      // Every page first asks whether someone is signed in. Sign-ins and operations that deny a call leave their own
      // rows.
      isRecorded: (error) =>
        error.code === "not_signed_in" || error.code === "sign_in_failed" || operations.isAudited(error),
    });
    const listening = await server.listen({ host, port: config.ports.console, setting: "SVC_CONSOLE_PORT" });

    const drain = () => {
      server.drain();
      closing.abort();
    };
    return {
      urls: { Console: localUrl(host, listening.port) },
      findProblem: server.findProblem,
      drain,
      async stop() {
        drain();
        clearInterval(followHost);
        hub.close();
        await server.close();
      },
    };
  }

  return { name: "console", start };
}

import { createAuthenticator, ensureConfiguredAdminKey, isGuessableKey } from "@svc/auth";
import { createChannelManager } from "@svc/channel-manager";
import type { ChannelManager } from "@svc/channel-manager";
import { localUrl } from "@svc/contracts";
import type { RunningService, Service } from "@svc/contracts";
import {
  addAdminRoutes,
  authenticated,
  createHookIntake,
  createOpenLimit,
  createRateLimit,
  crossOrigin,
  methodNotAllowed,
  serveHttp,
} from "@svc/http";
import type { Listening } from "@svc/http";
import type { Log } from "@svc/log";
import * as operations from "@svc/operations";
import { errorMessage } from "@svc/primitives";
import { createFetchGuard, createWebhookGuard } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import type { Express } from "express";
import { createApiChannel, createPersister, createSecretsReader, createSettingsReader } from "./api-context.ts";
import type { ApiContext } from "./api-context.ts";
import { deliverCallbacks } from "./callbacks/deliver-callbacks.ts";
import { createHealthCheck, getHealth } from "./get-health.ts";
import type { HealthSources } from "./get-health.ts";
import { redactUnknownPath, receiveHook, refuseHookMethod } from "./receive-hook.ts";
import { drainMessages } from "./messages/drain-messages.ts";
import { postMessage } from "./messages/post-message.ts";
import { HEARTBEAT_INTERVAL_MS, openReplyBoard, startHeartbeat } from "./messages/waiting-calls.ts";
import { serveOpenapi } from "./openapi/serve-openapi.ts";

/** Wait after a failed change of the host: each attempt closes the port for a moment. */
const REBIND_RETRY_MS = 10_000;

/** The host that the HTTP API listens on, which can be changed while it runs. */
interface Binding {
  /** Returns the current host; null before the server listens. */
  host(): string | null;
  /** Sets the server, which listens on this host. */
  attach(listening: Listening, host: string): void;
  /** Makes the server listen on this host. If that fails, it keeps the previous one, and later calls retry. */
  follow(host: string): Promise<void>;
  /** Returns why the server does not listen on the configured host, as a sentence; null if it does. */
  findProblem: () => string | null;
}

/** Creates a binding without a server. */
export function createBinding(log: Log): Binding {
  let bound: { listening: Listening; host: string } | null = null;
  let failed: { host: string; text: string; retryAt: number } | null = null;
  return {
    host: () => bound?.host ?? null,
    attach(listening, host) {
      bound = { listening, host };
    },
    async follow(host) {
      if (bound === null) return;
      if (bound.host === host) {
        failed = null;
        return;
      }
      if (failed?.host === host && Date.now() < failed.retryAt) return;
      try {
        await bound.listening.rebind(host);
        bound.host = host;
        failed = null;
        log.info({ host, port: bound.listening.port }, "HTTP API now listens on another host");
      } catch (error) {
        const reason = errorMessage(error);
        const text = `Cannot listen on ${host}; still listening on ${bound.host}. ${reason}`;
        failed = { host, text, retryAt: Date.now() + REBIND_RETRY_MS };
        log.warn({ error, host }, "HTTP API cannot listen on the new host");
      }
    },
    findProblem: () => failed?.text ?? null,
  };
}

/** Closes what was opened; called in reverse order. */
type Closers = (() => void | Promise<void>)[];

async function prepareAdminKey({ config, store, log }: Resources): Promise<void> {
  if (config.adminKey === undefined) return;
  await ensureConfiguredAdminKey(store, config.adminKey);
  if (isGuessableKey(config.adminKey)) {
    log.warn({}, "SVC_ADMIN_KEY is easy to guess; set a random value, for example from: openssl rand -hex 32");
  }
}

/** Opens the dependencies of the routes, and the configured host, to which the server will be bound. */
async function openContext(resources: Resources, closers: Closers) {
  const { config, store, queues, log } = resources;
  const heartbeat = await startHeartbeat(store, log);
  closers.push(() => heartbeat.stop());
  const persister = createPersister(log);
  closers.push(() => persister.close());
  const board = openReplyBoard(queues);
  closers.push(() => board.close());
  const binding = createBinding(log);
  const { api } = await store.channelsConfig.read();
  const host = config.bindHost ?? api.config.bindHost;
  const guard = createWebhookGuard(config, () => binding.host() ?? host);
  const readSecrets = createSecretsReader(store);
  const notifyWaiters = (ticketId: string) => board.notify(ticketId);
  const callbacks = deliverCallbacks({ store, queues, log, guard, readSecrets, notifyWaiters });
  const context: ApiContext = {
    store,
    queues,
    log,
    channel: createApiChannel({ board, callbacks, findProblem: binding.findProblem }),
    board,
    persister,
    heartbeat,
    guard,
    readSettings: createSettingsReader(store),
    readSecrets,
    limitPolls: createOpenLimit(config.ceilings.openCalls, "long polls and event streams"),
    limitHeldCalls: createOpenLimit(config.ceilings.heldCalls, "requests waiting for a reply"),
  };
  return { context, binding, host, callbacks };
}

/** Dependencies of the routes other than their context. */
interface RouteSources extends Omit<HealthSources, "models"> {
  findLocalUrl: () => string;
  /** Aborted at shutdown. */
  closing: AbortSignal;
}

function addRoutes(routes: Express, resources: Resources, context: ApiContext, sources: RouteSources): void {
  const { config, models } = resources;
  const { authenticate, rateLimit, findLocalUrl, closing } = sources;
  routes.use("/api/v1", crossOrigin(config.corsOrigins));
  const get = (path: string, handler: ReturnType<typeof getHealth>) =>
    routes.route(path).get(handler).all(methodNotAllowed("GET", "HEAD"));
  get("/api/v1/health", getHealth({ ...sources, models }));
  const { getOpenApi, getDocs, getReader } = serveOpenapi({ publicUrls: config.publicUrls, findLocalUrl });
  get("/api/v1/openapi.json", getOpenApi);
  get("/api/v1/docs", getDocs);
  get("/api/v1/docs/reader.js", getReader);
  const receiveHookBody = createHookIntake({
    ...context,
    operations,
    receive: (message, to) => context.channel.receive(message, to),
  });
  const hookCall = receiveHook(context, { rateLimit, take: receiveHookBody });
  routes.use("/api/v1/hooks", redactUnknownPath);
  for (const path of ["/api/v1/hooks/:hookId", "/api/v1/hooks/:hookId/:secret"]) {
    routes.route(path).post(hookCall).all(refuseHookMethod(rateLimit));
  }
  routes.use("/api/v1", authenticated(authenticate, rateLimit));
  routes.route("/api/v1/messages").post(postMessage(context)).all(methodNotAllowed("POST"));
  get("/api/v1/messages/:chatId", drainMessages(context));
  addAdminRoutes(routes, {
    ...resources,
    operations,
    fetchGuard: createFetchGuard(config),
    guard: context.guard,
    receiveHookBody,
    maxOpenCalls: config.ceilings.openCalls,
    closing,
  });
}

/** Follows the settings of the channel and its host, until the returned function is called. */
function followSettings(manager: ChannelManager, binding: Binding, { bindHost }: Resources["config"]) {
  return manager.follow({
    everyMs: HEARTBEAT_INTERVAL_MS,
    async onSettings({ api }) {
      // SVC_BIND_HOST cannot change while the process runs.
      if (bindHost === undefined) await binding.follow(api.config.bindHost);
    },
  });
}

/** Starts the service. What has to be closed is added to `closers`. */
async function open(resources: Resources, closers: Closers): Promise<RunningService> {
  const { config, store, queues, log } = resources;
  await prepareAdminKey(resources);
  const { context, binding, host, callbacks } = await openContext(resources, closers);
  const { board } = context;
  callbacks.start();
  closers.push(() => callbacks.stop());
  const manager = createChannelManager(resources);
  manager.register(context.channel);
  closers.push(await followSettings(manager, binding, config));
  const check = createHealthCheck(store, queues);
  const closing = new AbortController();
  async function findProblem(): Promise<string | null> {
    const failed = Object.values(await check()).find(({ status }) => status === "fail");
    return failed?.detail ?? (await callbacks.findProblem());
  }
  const sources: RouteSources = {
    check,
    manager,
    authenticate: createAuthenticator({ store, log }),
    rateLimit: createRateLimit(queues.counters),
    findLocalUrl: () => localUrl(binding.host() ?? host, listening.port),
    closing: closing.signal,
  };
  const server = serveHttp({
    app: "api",
    title: "HTTP API",
    store,
    log,
    config,
    findProblem,
    addRoutes: (routes) => addRoutes(routes, resources, context, sources),
    // An operation that denies a call records it itself.
    isRecorded: operations.isAudited,
  });
  closers.push(() => server.close());
  const listening = await server.listen({ host, port: config.ports.api, setting: "SVC_API_PORT" });
  binding.attach(listening, host);

  function drain(): void {
    server.drain();
    closing.abort();
    // Waiting calls respond now: their replies will be in the drain.
    board.close();
  }
  return {
    urls: { "HTTP API": localUrl(host, listening.port) },
    findProblem: server.findProblem,
    drain,
    async stop() {
      drain();
      for (const close of closers.toReversed()) await close();
    },
  };
}

/** The HTTP API: messages, drains, administration, health, the callbacks, and the api channel behind them. */
export function apiService(resources: Resources): Service {
  return {
    name: "api",
    async start() {
      const closers: Closers = [];
      try {
        return await open(resources, closers);
      } catch (error) {
        for (const close of closers.toReversed()) {
          await Promise.resolve()
            .then(close)
            .catch((closeError: unknown) =>
              resources.log.warn({ error: closeError }, "failed startup left a resource open"),
            );
        }
        throw error;
      }
    },
  };
}

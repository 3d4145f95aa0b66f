import { addAdminRoutes, createHookIntake } from "@svc/admin";
import { createAuthenticator, ensureConfiguredAdminKey, isGuessableKey } from "@svc/auth";
import { createChannelManager } from "@svc/channel-manager";
import { localUrl } from "@svc/contracts";
import type { RunningService, Service } from "@svc/contracts";
import { authenticated, createOpenLimit, createRateLimit, crossOrigin, methodNotAllowed, serveHttp } from "@svc/http";
import { isAudited } from "@svc/operations";
import { followTexts } from "@svc/queue";
import { createFetchGuard, createWebhookGuard } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import type { Express } from "express";
import { createApiChannel } from "./api-channel.ts";
import { createBinding } from "./create-binding.ts";
import { deliverCallbacks } from "./callbacks/deliver-callbacks.ts";
import { createSecretsReader, createSettingsReader } from "./api-settings.ts";
import { drainMessages } from "./drain-messages.ts";
import { createHealthCheck, getHealth } from "./get-health.ts";
import { hideStrayPath, receiveHook, refuseHookMethod } from "./hooks/receive-hook.ts";
import { settleNews } from "./modes.ts";
import { serveOpenapi } from "./openapi/serve-openapi.ts";
import { createPersister } from "./persist.ts";
import { postMessage } from "./post-message.ts";
import { beginPresence } from "./presence.ts";
import { createReplyBoard } from "./reply-board.ts";

/** Topic of the wake-ups that say which conversations have new replies. */
const REPLIES_TOPIC = "replies";

/** The HTTP API: messages, drains, administration, health, the callbacks, and the api channel behind them. */
export function apiService(resources: Resources): Service {
  const { config, store, queues, log } = resources;

  async function start(): Promise<RunningService> {
    // What has been opened so far, to be closed again in reverse when the start fails.
    const undo: (() => Promise<void>)[] = [];
    try {
      return await open(undo);
    } catch (error) {
      for (const step of undo.toReversed()) {
        await step().catch((undoError: unknown) =>
          log.warn({ error: undoError }, "failed startup left a resource open"),
        );
      }
      throw error;
    }
  }

  async function open(undo: (() => Promise<void>)[]): Promise<RunningService> {
    if (config.adminKey !== undefined) {
      await ensureConfiguredAdminKey(store, config.adminKey);
      if (isGuessableKey(config.adminKey)) {
        log.warn({}, "SVC_ADMIN_KEY is easy to guess; set a random value, for example from: openssl rand -hex 32");
      }
    }
    const presence = await beginPresence(store, log);
    undo.push(() => presence.end());
    const board = createReplyBoard();
    const persister = createPersister(log);
    const tell = (ticketId: string, messageId?: string) => {
      // Whoever waits may do so on another replica.
      if (!board.wake(ticketId, messageId)) queues.wakeUps.send(REPLIES_TOPIC, [ticketId]);
    };
    const binding = createBinding(log);
    const channel = createApiChannel(
      (news) => settleNews({ store, queues, log, tell }, news),
      () => binding.findFault(),
    );
    const silence = queues.wakeUps.listen(REPLIES_TOPIC, (ids) => {
      for (const id of ids) board.wake(id);
    });
    const silenceTexts = followTexts(queues, (ids) => {
      for (const id of ids) board.wakeForText(id);
    });
    undo.push(() => {
      board.close();
      silence();
      silenceTexts();
      return Promise.resolve();
    });
    const settings = await store.channelsConfig.read();
    const manager = createChannelManager(resources);
    manager.register(channel);
    const unfollow = await manager.follow(async ({ api }) => {
      // SVC_BIND_HOST holds for the life of the process.
      if (config.bindHost === undefined) await binding.follow(api.config.bindHost);
    });
    undo.push(unfollow);
    const authenticate = createAuthenticator({ store, log });
    const rateLimit = createRateLimit(queues.counters);
    const host = config.bindHost ?? settings.api.config.bindHost;
    const guard = createWebhookGuard(config, () => binding.host() ?? host);
    const readSettings = createSettingsReader(store);
    const readSecrets = createSecretsReader(store);
    const limitPolls = createOpenLimit(config.ceilings.openCalls, "long polls and event streams");
    const limitHeldCalls = createOpenLimit(config.ceilings.heldCalls, "requests waiting for a reply");
    const context = {
      store,
      queues,
      log,
      tell,
      channel,
      board,
      persister,
      presence,
      guard,
      readSettings,
      readSecrets,
      limitPolls,
      limitHeldCalls,
    };
    const takeHookBody = createHookIntake({ ...context, receive: (message, to) => channel.receive(message, to) });
    const callbacks = deliverCallbacks(context);
    callbacks.start();
    undo.push(() => callbacks.stop());

    const check = createHealthCheck(store, queues);
    const closing = new AbortController();
    async function findFault(): Promise<string | null> {
      const failed = Object.values(await check()).find(({ status }) => status === "fail");
      return failed?.detail ?? (await callbacks.findFault());
    }

    const addRoutes = (routes: Express) => {
      routes.use("/api/v1", crossOrigin(config.corsOrigins));
      routes
        .route("/api/v1/health")
        .get(getHealth(check, resources.models, manager, authenticate, rateLimit))
        .all(methodNotAllowed("GET", "HEAD"));
      const findLocalUrl = () => localUrl(binding.host() ?? host, listening.port);
      const { getOpenApi, getDocs } = serveOpenapi({ publicUrls: config.publicUrls, findLocalUrl });
      routes.route("/api/v1/openapi.json").get(getOpenApi).all(methodNotAllowed("GET", "HEAD"));
      routes.route("/api/v1/docs").get(getDocs).all(methodNotAllowed("GET", "HEAD"));
      const hookCall = receiveHook(context, { rateLimit, take: takeHookBody });
      routes.use("/api/v1/hooks", hideStrayPath);
      for (const path of ["/api/v1/hooks/:hookId", "/api/v1/hooks/:hookId/:secret"]) {
        routes.route(path).post(hookCall).all(refuseHookMethod(rateLimit));
      }
      routes.use("/api/v1", authenticated(authenticate, rateLimit));
      routes.route("/api/v1/messages").post(postMessage(context)).all(methodNotAllowed("POST"));
      routes.route("/api/v1/messages/:chatId").get(drainMessages(context)).all(methodNotAllowed("GET", "HEAD"));
      addAdminRoutes(routes, {
        ...resources,
        fetchGuard: createFetchGuard(config),
        guard,
        takeHookBody,
        maxOpenCalls: config.ceilings.openCalls,
        closing: closing.signal,
      });
    };
    // An operation that denies a call leaves its own row.
    const server = serveHttp({
      app: "api",
      title: "HTTP API",
      store,
      log,
      config,
      findFault,
      addRoutes,
      isRecorded: isAudited,
    });
    undo.push(() => server.close());
    const listening = await server.listen({ host, port: config.ports.api, setting: "SVC_API_PORT" });
    binding.attach(listening, host);

    return {
      urls: { "HTTP API": localUrl(host, listening.port) },
      findFault: server.findFault,
      drain() {
        server.drain();
        closing.abort();
        // Calls that wait are answered now: their replies will be in the drain.
        board.close();
      },
      async stop() {
        server.drain();
        closing.abort();
        board.close();
        await server.close();
        await unfollow();
        await callbacks.stop();
        silence();
        silenceTexts();
        await persister.close();
        await presence.end();
      },
    };
  }

  return { name: "api", start };
}

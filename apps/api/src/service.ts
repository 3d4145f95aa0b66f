import { createAuthenticator, ensureConfiguredAdminKey } from "@svc/auth";
import { createChannelManager } from "@svc/channel-manager";
import { localUrl } from "@svc/contracts";
import type { RunningService, Service } from "@svc/contracts";
import { answerHealth, authenticated, createApp, listen, methodNotAllowed } from "@svc/http";
import type { Resources } from "@svc/runtime";
import { createApiChannel } from "./api-channel.ts";
import { drainMessages } from "./drain-messages.ts";
import { createHealthCheck, getHealth } from "./get-health.ts";
import { createPersister } from "./persist.ts";
import { postMessage } from "./post-message.ts";
import { beginPresence } from "./presence.ts";
import { createReplyBoard } from "./reply-board.ts";

/** Topic of the wake-ups that say which conversations have new replies. */
const REPLIES_TOPIC = "replies";
const CLOSE_DEADLINE_MS = 3_000;
/** The default timeout is a setting: read anew at most once a second. */
const SETTINGS_MS = 1_000;

/** The HTTP API: `POST` and `GET /api/v1/messages`, health, and the api channel behind them. */
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
          log.warn({ error: undoError }, "a failed start left something open"),
        );
      }
      throw error;
    }
  }

  async function open(undo: (() => Promise<void>)[]): Promise<RunningService> {
    if (config.adminKey !== undefined) await ensureConfiguredAdminKey(store, config.adminKey);
    const presence = await beginPresence(store, log);
    undo.push(() => presence.end());
    const board = createReplyBoard();
    const persister = createPersister(log);
    const channel = createApiChannel((ticketId, messageId) => {
      // Whoever waits may do so on another replica.
      if (!board.wake(ticketId, messageId)) queues.wakeUps.send(REPLIES_TOPIC, [ticketId]);
    });
    const silence = queues.wakeUps.listen(REPLIES_TOPIC, (ids) => {
      for (const id of ids) board.wake(id);
    });
    undo.push(() => {
      board.close();
      silence();
      return Promise.resolve();
    });
    const settings = await store.channelsConfig.read();
    const manager = createChannelManager(resources);
    manager.register(channel);
    const unfollow = await manager.follow();
    undo.push(unfollow);
    const authenticate = createAuthenticator({ store, log });
    const context = { store, log, channel, board, persister, presence };

    let timeout = { ms: settings.api.config.timeoutMs, until: performance.now() + SETTINGS_MS };
    async function readTimeoutMs(): Promise<number> {
      if (timeout.until < performance.now()) {
        const { api } = await store.channelsConfig.read();
        timeout = { ms: api.config.timeoutMs, until: performance.now() + SETTINGS_MS };
      }
      return timeout.ms;
    }

    const check = createHealthCheck(store, queues);
    let isDraining = false;
    async function findFault(): Promise<string | null> {
      if (isDraining) return "stopping";
      const failed = Object.values(await check()).find(({ status }) => status === "fail");
      return failed?.detail ?? null;
    }

    const app = createApp(log, (routes) => {
      routes.use((request, response, next) => {
        if (isDraining) response.setHeader("Connection", "close");
        if (!answerHealth(request.path, response, { findFault })) next();
      });
      routes
        .route("/api/v1/health")
        .get(getHealth(check, manager, authenticate))
        .all(methodNotAllowed("GET", "HEAD"));
      routes.use("/api/v1", authenticated(authenticate));
      routes.route("/api/v1/messages").post(postMessage(context, readTimeoutMs)).all(methodNotAllowed("POST"));
      routes.route("/api/v1/messages/:chatId").get(drainMessages(context)).all(methodNotAllowed("GET", "HEAD"));
    });

    const host = config.bindHost ?? settings.api.config.bindHost;
    const listening = await listen(app, { host, port: config.ports.api, setting: "SVC_API_PORT" });
    log.info({ host, port: listening.port }, "the HTTP API listens");

    return {
      urls: { "HTTP API": localUrl(host, listening.port) },
      findFault,
      drain() {
        isDraining = true;
        // Calls that wait are answered now: their replies will be in the drain.
        board.close();
      },
      async stop() {
        isDraining = true;
        board.close();
        await listening.close(CLOSE_DEADLINE_MS);
        await unfollow();
        silence();
        await persister.close();
        await presence.end();
      },
    };
  }

  return { name: "api", start };
}

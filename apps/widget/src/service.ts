import { createChannelManager } from "@svc/channel-manager";
import { localUrl } from "@svc/contracts";
import type { RunningService, Service } from "@svc/contracts";
import { createApp, listen } from "@svc/http";
import type { Listening } from "@svc/http";
import { followPresence, followTexts } from "@svc/queue";
import type { Resources } from "@svc/runtime";
import { startSweeps } from "@svc/work";
import type { Express } from "express";
import { demoOrigins } from "./serve-client.ts";
import { openSockets } from "./sockets/open-sockets.ts";
import type { Sockets } from "./sockets/open-sockets.ts";
import { createSiteReader, createWidgetChannel } from "./widget-context.ts";
import type { WidgetContext } from "./widget-context.ts";
import { addDisabledRoutes, addWidgetRoutes } from "./widget-routes.ts";

/** Topic of the wake-ups for changed conversations of the widget. */
const CHATS_TOPIC = "widget-chats";
const CLOSE_DEADLINE_MS = 3_000;
/** Time to upload the largest file at 140 kbit/s, as on a poor mobile network. */
const UPLOAD_TIMEOUT_MS = 600_000;

const hostOf = ({ bindHost }: Resources["config"]) => bindHost ?? "127.0.0.1";

const SWEEP_EVERY_MS = 60_000;

/** Deletes files without a message after a day, and IDs of messages that never arrived; replicas share the work. */
async function sweepFiles({ store }: Resources, isStopped: () => boolean): Promise<void> {
  for (const remove of [() => store.widgetFiles.removeUnused(), () => store.visitors.removeReserved()]) {
    let isMore = !isStopped();
    while (isMore) isMore = (await remove()) && !isStopped();
  }
}

/** Binds the port of the widget for these routes. Throws PortTakenError and CannotListenError. */
async function bindPort({ config, log }: Resources, addRoutes: (routes: Express) => void) {
  const app = createApp(log, addRoutes, {
    trustProxy: config.trustProxy,
    app: "widget",
    showsMetrics: config.ports.metrics === undefined,
  });
  const listening = await listen(app, {
    host: hostOf(config),
    port: config.ports.widget,
    setting: "SVC_WIDGET_PORT",
    requestTimeoutMs: UPLOAD_TIMEOUT_MS,
  });
  return { app, listening };
}

/** Opens the sockets and the HTTP server of the widget. Throws PortTakenError and CannotListenError. */
async function openServer(
  resources: Resources,
  context: WidgetContext,
  findProblem: () => Promise<string | null>,
): Promise<{ listening: Listening; sockets: Sockets }> {
  const { config, log } = resources;
  const sockets = openSockets(context);
  try {
    const routesContext = { ...context, config, sockets, findProblem };
    const { app, listening } = await bindPort(resources, (routes) => addWidgetRoutes(routes, routesContext));
    sockets.attach(listening.server, app);
    log.info({ host: hostOf(config), port: listening.port }, "widget listening");
    return { listening, sockets };
  } catch (error) {
    await sockets.close();
    throw error;
  }
}

// oxlint-disable-next-line max-lines-per-function -- the composition of the service
async function startWidget(resources: Resources): Promise<RunningService> {
  const { config, store, queues, log } = resources;
  const readSite = createSiteReader(store, demoOrigins(config));
  let isDraining = false;
  let listening: Listening | null = null;
  let sockets: Sockets | null = null;

  const tell = (ticketIds: string[]) => {
    sockets?.wake(ticketIds);
    // The visitor may be connected to another replica, also with another tab.
    queues.wakeUps.send(CHATS_TOPIC, ticketIds);
  };
  async function findProblem(): Promise<string | null> {
    if (isDraining) return "stopping";
    return store.findProblem();
  }

  async function closeServer(): Promise<void> {
    await sockets?.close();
    sockets = null;
    await listening?.close(CLOSE_DEADLINE_MS);
    listening = null;
  }

  let hasWarned = false;
  /**
   * Serves unsubscribe links while the channel is disabled, or cannot be started, which is retried every few seconds.
   */
  async function serveLinks(): Promise<void> {
    if (config.email === undefined || isDraining) return;
    try {
      ({ listening } = await bindPort(resources, (routes) => addDisabledRoutes(routes, { store, findProblem })));
    } catch (error) {
      if (!hasWarned) log.warn({ error }, "unsubscribe links of emails do not work while the widget is stopped");
      hasWarned = true;
    }
  }

  async function open(): Promise<void> {
    await closeServer();
    ({ listening, sockets } = await openServer(resources, context, findProblem));
  }

  async function close(): Promise<void> {
    await closeServer();
    await serveLinks();
  }

  const channel = createWidgetChannel({ open, close, tell, countSockets: () => sockets?.count() ?? 0 });
  const context: WidgetContext = {
    store,
    queues,
    log,
    readSite,
    ceilings: config.ceilings,
    receive: (message, to) => channel.receive(message, to),
    tell,
  };
  const manager = createChannelManager(resources);
  manager.register(channel);
  const silence = queues.wakeUps.listen(CHATS_TOPIC, (ids) => sockets?.wake(ids));
  const silenceTexts = followTexts(queues, (ids) => sockets?.wake(ids));
  const silencePresence = followPresence(queues, (ids) => sockets?.wake(ids));
  const sweeper = startSweeps(log, "unreferenced files", [
    { everyMs: SWEEP_EVERY_MS, run: (isStopped) => sweepFiles(resources, isStopped) },
  ]);
  const unfollow = await manager.follow();
  if (listening === null) await serveLinks();
  const failure = manager.states().find(({ state }) => state === "failing")?.error ?? null;

  return {
    ...(failure === null ? {} : { problems: { Widget: failure } }),
    urls: sockets === null ? {} : { Widget: localUrl(hostOf(config), config.ports.widget) },
    findProblem,
    drain() {
      isDraining = true;
    },
    async stop() {
      isDraining = true;
      await unfollow();
      await closeServer();
      await sweeper.stop();
      silence();
      silenceTexts();
      silencePresence();
    },
  };
}

/** The web widget: its script and endpoints, the sockets of its visitors, and the widget channel. */
export function widgetService(resources: Resources): Service {
  return { name: "widget", start: () => startWidget(resources) };
}

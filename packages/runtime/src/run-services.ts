import { VERSION } from "@svc/contracts";
import type { RunningService, Service } from "@svc/contracts";
import { listen, monitorListener } from "@svc/http";
import { createBriefCache, usedShareOf } from "@svc/store";
import type { QueueDepth, StorageUsage, StoredKind } from "@svc/store";
import { beforeScrape, clearGauge, openTracing, setGauge } from "@svc/telemetry";
import { closeResources } from "./open-resources.ts";
import type { Resources } from "./open-resources.ts";
import { watchMemory, watchProcesses } from "./watch-processes.ts";

/** Minimum interval between reads of the queues, so that frequent scrapes do not load the database. */
const DEPTHS_EVERY_MS = 10_000;

function showDepths(depths: readonly QueueDepth[]): void {
  for (const { queue, waiting, due, oldestDueAgeS, dead } of depths) {
    setGauge("svc_queue_waiting", { queue }, waiting);
    setGauge("svc_queue_due", { queue }, due);
    setGauge("svc_queue_oldest_due_age_seconds", { queue }, oldestDueAgeS);
    if (dead !== null) setGauge("svc_queue_dead", { queue }, dead);
  }
}

/** Hides gauges whose values are outdated. */
function hideDepths(): void {
  clearGauge("svc_queue_waiting");
  clearGauge("svc_queue_due");
  clearGauge("svc_queue_oldest_due_age_seconds");
  clearGauge("svc_queue_dead");
}

/** Minimum interval between two reads of the storage metrics. */
const STORAGE_EVERY_MS = 60_000;

function showStorage({ projects, totalBytes, limits }: StorageUsage): void {
  hideStorage();
  // No metric has a label for the project, since each customer would add a time series. The log and `svc doctor` name
  // the projects.
  const bytesOf = new Map<StoredKind, number>();
  for (const { kinds } of projects) {
    for (const [kind, bytes] of Object.entries(kinds) as [StoredKind, number][]) {
      bytesOf.set(kind, (bytesOf.get(kind) ?? 0) + bytes);
    }
  }
  for (const [kind, bytes] of bytesOf) setGauge("svc_stored_bytes", { kind }, bytes);
  const fullest = Math.max(0, ...projects.map((usage) => usedShareOf(usage, limits)));
  setGauge("svc_storage_used_ratio", { scope: "project" }, fullest);
  setGauge("svc_storage_used_ratio", { scope: "installation" }, totalBytes / limits.installationMaxBytes);
}

function hideStorage(): void {
  clearGauge("svc_stored_bytes");
  clearGauge("svc_storage_used_ratio");
}

/**
 * Collects metrics at each scrape, and only then: running services, readiness, reachability of the servers, and the
 * queues. Returns a function that ends this.
 */
function gatherFigures(
  app: string,
  { store, queues }: Pick<Resources, "store" | "queues">,
  findProblem: () => Promise<string | null>,
): () => void {
  setGauge("svc_build_info", { app, version: VERSION }, 1);
  const cache = createBriefCache<QueueDepth[]>(DEPTHS_EVERY_MS);

  async function gatherDepths(): Promise<void> {
    try {
      showDepths((await cache.get("depths", () => store.queueDepths.read())) ?? []);
    } catch (error) {
      hideDepths();
      throw error;
    }
  }

  const storageCache = createBriefCache<StorageUsage>(STORAGE_EVERY_MS);
  async function gatherStorage(): Promise<void> {
    try {
      const usage = await storageCache.get("storage", () => store.storedBytes.read());
      if (usage !== null) showStorage(usage);
    } catch (error) {
      hideStorage();
      throw error;
    }
  }

  async function gatherState(): Promise<void> {
    setGauge("svc_queue_backend_up", {}, queues.isUp() ? 1 : 0);
    setGauge("svc_store_up", {}, 0);
    setGauge("svc_ready", {}, 0);
    const [isUp, error] = await Promise.all([store.ping(), findProblem()]);
    setGauge("svc_store_up", {}, isUp ? 1 : 0);
    setGauge("svc_ready", {}, error === null ? 1 : 0);
  }

  const forget = [beforeScrape(gatherDepths), beforeScrape(gatherStorage), beforeScrape(gatherState)];
  return () => {
    for (const end of forget) end();
  };
}

/** The running services of a process. */
export interface Running {
  /** URLs for display, by name. */
  urls: Record<string, string>;
  /** Services that did not start, by the name of their URL, each with the reason and what to do. */
  problems: Record<string, string>;
  /** Stops everything in reverse order and closes the resources. Safe to call twice. */
  stop(): Promise<void>;
  /** Resolves after everything has stopped. */
  stopped: Promise<void>;
}

/** Maximum time from the signal to the end of the process. */
const STOP_DEADLINE_MS = 9_500;
const HEALTH_CLOSE_MS = 500;

/** Logs the kind of error that ends the process; the details are in the log line. */
function watchHealth(resources: Resources, stop: () => Promise<void>): () => void {
  const fail = (error: unknown) => {
    resources.log.fatal({ error }, "unexpected error; the process exits");
    process.exitCode = 1;
    stop().catch((stopError: unknown) =>
      resources.log.error({ error: stopError }, "the process did not shut down cleanly"),
    );
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  return () => {
    process.off("uncaughtException", fail);
    process.off("unhandledRejection", fail);
  };
}

/**
 * Starts services in the given order and stops them in reverse at SIGTERM or SIGINT: they become unready at once, and
 * then each has its time to finish. After 9.5 s the process ends in any case, and a second signal ends it at once. If a
 * service fails to start, the others are stopped and its error is thrown. A signal during startup lets the starting
 * service finish, and no other one starts.
 */
// oxlint-disable-next-line max-lines-per-function -- Start and stop of a process share its state.
export async function runServices(
  services: readonly Service[],
  resources: Resources,
  options: { afterStop?: () => Promise<void> } = {},
): Promise<Running> {
  const { config, log } = resources;
  const app = services.length === 1 && services[0] !== undefined ? services[0].name : "standalone";
  const started: RunningService[] = [];
  let stopping: Promise<void> | undefined;
  let isDraining = false;
  let hasCrashed = false;

  async function stopAll(): Promise<void> {
    isDraining = true;
    // Recorded first, so that a process killed during shutdown is not reported as crashed.
    const recorded = recordStop?.({ hasCrashed });
    // A starting service can only be stopped after its start; the caller gets its error.
    await Promise.allSettled([starting]);
    const steps = [
      ...started.map((service) => () => service.drain?.()),
      ...started.toReversed().map((service) => () => service.stop()),
    ];
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        log.error({ error }, "a service did not shut down cleanly");
      }
    }
    try {
      await recorded;
      await endWatching?.();
      await closeResources(resources);
    } finally {
      await options.afterStop?.();
    }
  }

  let noteStopped: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    noteStopped = resolve;
  });
  const stop = (): Promise<void> => {
    if (stopping !== undefined) return stopping;
    const deadline = setTimeout(() => {
      log.error(
        {},
        "shutdown timeout exceeded; the process exits, and unfinished work is repeated after the next startup",
      );
      process.exit(1);
    }, STOP_DEADLINE_MS);
    deadline.unref();
    stopping = stopAll().finally(() => {
      clearTimeout(deadline);
      process.off("SIGTERM", onSignal);
      process.off("SIGINT", onSignal);
      unwatch();
      noteStopped();
    });
    return stopping;
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping !== undefined) {
      log.warn({ signal }, "stopped immediately by a second signal");
      process.exit(1);
    }
    log.info({ signal }, "stopping");
    stop().catch((error: unknown) => {
      log.error({ error }, "the process did not shut down cleanly");
      process.exit(1);
    });
  };
  const unwatch = watchHealth(resources, () => {
    hasCrashed = true;
    return stop();
  });
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);

  const urls: Record<string, string> = {};
  const problems: Record<string, string> = {};
  let endWatching: (() => Promise<void>) | undefined;
  let recordStop: ReturnType<typeof watchProcesses> | undefined;
  async function watch(): Promise<void> {
    const forget = gatherFigures(app, resources, () => findProblem(isDraining, started));
    const tracing =
      config.tracing === undefined
        ? null
        : await openTracing(
            { ...config.tracing, serviceName: config.tracing.serviceName ?? `svc-${app}`, serviceVersion: VERSION },
            (text) => log.warn({ fault: text }, "the trace collector rejects spans; they are dropped"),
          );
    const endMemory = watchMemory(log);
    recordStop = watchProcesses(app, resources.store.processes, log);
    endWatching = async () => {
      endMemory();
      forget();
      await tracing?.close();
    };
  }

  async function startAll(): Promise<void> {
    await watch();
    for (const service of services) {
      if (isDraining) return;
      const running = await service.start();
      started.push(running);
      Object.assign(urls, running.urls);
      Object.assign(problems, running.problems);
    }
    if (config.ports.metrics === undefined || isDraining) return;
    const health = await listen(monitorListener({ findProblem: () => findProblem(isDraining, started) }), {
      host: config.bindHost ?? "127.0.0.1",
      port: config.ports.metrics,
      setting: "SVC_METRICS_PORT",
    });
    started.push({ stop: () => health.close(HEALTH_CLOSE_MS) });
  }
  const starting = startAll();
  try {
    await starting;
  } catch (error) {
    await stop();
    throw error;
  }
  log.info({ services: services.map((service) => service.name), queues: resources.queues.backend }, "started");
  return { urls, problems, stop, stopped };
}

/** Returns the first reason why a service is not ready, or null. */
async function findProblem(isDraining: boolean, services: readonly RunningService[]): Promise<string | null> {
  if (isDraining) return "stopping";
  for (const service of services) {
    const error = await service.findProblem?.();
    if (error != null) return error;
  }
  return null;
}

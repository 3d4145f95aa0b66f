import { VERSION } from "@svc/contracts";
import type { RunningService, Service } from "@svc/contracts";
import { listen, monitorListener } from "@svc/http";
import type { Log } from "@svc/log";
import { openTracing } from "@svc/telemetry";
import { gatherFigures } from "./gather-figures.ts";
import { closeResources } from "./open-resources.ts";
import type { Resources } from "./open-resources.ts";
import { watchMemory, watchProcesses } from "./watch-processes.ts";

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

/** Starts the metrics, spans, memory check and heartbeat of a process. */
async function watchSelf(app: string, resources: Resources, findProblem: () => Promise<string | null>) {
  const { config, log, store } = resources;
  const forget = gatherFigures(app, resources, findProblem);
  const tracing =
    config.tracing === undefined
      ? null
      : await openTracing(
          { ...config.tracing, serviceName: config.tracing.serviceName ?? `svc-${app}`, serviceVersion: VERSION },
          (text) => log.warn({ fault: text }, "the trace collector rejects spans; they are dropped"),
        );
  const endMemory = watchMemory(log);
  return {
    recordStop: watchProcesses(app, store.processes, log),
    async end() {
      endMemory();
      forget();
      await tracing?.close();
    },
  };
}

/** Drains services and stops them in reverse order. Errors are logged. */
async function stopServices(services: readonly RunningService[], log: Log): Promise<void> {
  const steps = [
    ...services.map((service) => () => service.drain?.()),
    ...services.toReversed().map((service) => () => service.stop()),
  ];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      log.error({ error }, "a service did not shut down cleanly");
    }
  }
}

/** Ends the process after the time of a shutdown. Returns a function that cancels this. */
function limitShutdown(log: Log): () => void {
  const deadline = setTimeout(() => {
    log.error(
      {},
      "shutdown timeout exceeded; the process exits, and unfinished work is repeated after the next startup",
    );
    process.exit(1);
  }, STOP_DEADLINE_MS);
  deadline.unref();
  return () => clearTimeout(deadline);
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
  const urls: Record<string, string> = {};
  const problems: Record<string, string> = {};
  let watch: Awaited<ReturnType<typeof watchSelf>> | undefined;
  let stopping: Promise<void> | undefined;
  let isDraining = false;
  let hasCrashed = false;
  const findProblem = () => findFirstProblem(isDraining, started);

  async function startAll(): Promise<void> {
    watch = await watchSelf(app, resources, findProblem);
    for (const service of services) {
      if (isDraining) return;
      const running = await service.start();
      started.push(running);
      Object.assign(urls, running.urls);
      Object.assign(problems, running.problems);
    }
    if (config.ports.metrics === undefined || isDraining) return;
    const health = await listen(monitorListener({ findProblem }), {
      host: config.bindHost ?? "127.0.0.1",
      port: config.ports.metrics,
      setting: "SVC_METRICS_PORT",
    });
    started.push({ stop: () => health.close(HEALTH_CLOSE_MS) });
  }

  async function stopAll(): Promise<void> {
    isDraining = true;
    // Recorded first, so that a process killed during shutdown is not reported as crashed.
    const recorded = watch?.recordStop({ hasCrashed });
    // A starting service can only be stopped after its start; the caller gets its error.
    await Promise.allSettled([starting]);
    await stopServices(started, log);
    try {
      await recorded;
      await watch?.end();
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
    const cancelLimit = limitShutdown(log);
    stopping = stopAll().finally(() => {
      cancelLimit();
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
async function findFirstProblem(isDraining: boolean, services: readonly RunningService[]): Promise<string | null> {
  if (isDraining) return "stopping";
  for (const service of services) {
    const error = await service.findProblem?.();
    if (error != null) return error;
  }
  return null;
}

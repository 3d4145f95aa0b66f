import { randomBytes } from "node:crypto";
import type { AppName } from "@svc/contracts";
import { findProgram } from "./shared-servers.ts";
import type { Exit } from "./child-process.ts";
import { freePort, startProcess, makeTemporaryFolder } from "./child-process.ts";
import { readTestSettings } from "./test-settings.ts";
import type { CompositionName } from "./test-settings.ts";

/** Options of a composition. */
export interface CompositionOptions {
  /** The database, already migrated. */
  databaseUrl: string;
  /** The Redis of the queues; they are in the database by default. */
  redisUrl?: string;
  /** Default: that of TEST_COMPOSITION. */
  composition?: CompositionName;
  /** Number of processes per app if they run separately; a standalone is always one. Default: 2. */
  replicas?: number;
  /** Further apps besides API and pipeline; a standalone always has them. */
  apps?: readonly FurtherApp[];
  /** Further settings of the product, which override the defaults. */
  env?: Record<string, string>;
}

/** Apps that only some tests need. */
export type FurtherApp = Exclude<AppName, "api" | "pipeline">;

/** A process of a composition, which can be killed and restarted with the same settings and ports. */
export interface CompositionProcess {
  /** The app and its number: `standalone`, `api-1`, `pipeline-2`. */
  readonly name: string;
  /** Changes after a restart. */
  readonly pid: number;
  /** URL of its API; absent if it has none. */
  readonly apiUrl?: string;
  /** URL of its widget and its tool server, once they are enabled; absent if it has none. */
  readonly widgetUrl?: string;
  readonly toolsUrl?: string;
  /** URL of its console; absent if it has none. */
  readonly consoleUrl?: string;
  /** URL of its health and metrics. */
  readonly metricsUrl: string;
  /** Returns its output since its last start. */
  output(): string;
  /** Resolves when it has exited. SIGTERM by default. */
  kill(signal?: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<Exit>;
  /** Restarts it and waits until it is healthy. */
  start(): Promise<void>;
}

/** A running product. */
export interface Composition {
  readonly composition: CompositionName;
  /** Base URLs of every API replica, for example http://127.0.0.1:20123. */
  readonly apiUrls: string[];
  /** Base URLs of every replica of the widget, which listens once its channel is enabled. */
  readonly widgetUrls: string[];
  /** Base URLs of every replica of the tool server. */
  readonly toolsUrls: string[];
  /** Base URLs of every replica of the console. */
  readonly consoleUrls: string[];
  /** An administrator's key. */
  readonly adminKey: string;
  readonly processes: CompositionProcess[];
  /** Stops all processes gracefully. Rejects if one does not exit by itself. */
  stop(): Promise<void>;
}

const API_HEALTH_PATH = "/api/v1/health";
/** For a process without an API: it is alive. Tests check whether it keeps up with its work. */
const HEALTH_PATH = "/healthz";

/** What a process serves besides its health. */
type Surface = "api" | "widget" | "tools" | "console";

interface AppPlan {
  app: string;
  surfaces: readonly Surface[];
  count: number;
}

/** What the further apps with a port serve. */
const SURFACES: Partial<Record<FurtherApp, readonly Surface[]>> = {
  widget: ["widget"],
  "tool-server": ["tools"],
  console: ["console"],
};

/** Apps of each composition; all are started at once. */
const APPS = {
  standalone: () => [{ app: "standalone", surfaces: ["api", "widget", "tools", "console"], count: 1 }],
  separate: (count: number, further: readonly FurtherApp[]) => [
    { app: "api", surfaces: ["api"], count },
    { app: "pipeline", surfaces: [], count },
    ...further.map((app): AppPlan => ({ app, surfaces: SURFACES[app] ?? [], count })),
  ],
} satisfies Record<CompositionName, (replicas: number, further: readonly FurtherApp[]) => AppPlan[]>;

/**
 * Starts the product as real processes from their builds on a database (and a Redis), with free ports and new keys, and
 * waits until every process is healthy. Nothing outlives the test file.
 */
export async function startComposition(options: CompositionOptions): Promise<Composition> {
  const { composition = readTestSettings().composition, replicas = 2, apps = [] } = options;
  const dataFolder = await makeTemporaryFolder("data");
  const adminKey = options.env?.["SVC_ADMIN_KEY"] ?? `test-admin-${randomBytes(16).toString("hex")}`;
  const common = {
    DATABASE_URL: options.databaseUrl,
    ...(options.redisUrl === undefined ? {} : { REDIS_URL: options.redisUrl }),
    SVC_ADMIN_KEY: adminKey,
    SVC_SECRET_KEY: randomBytes(32).toString("hex"),
    SVC_DATA_DIR: dataFolder.path,
    SVC_LOG_LEVEL: "info",
  };
  const processes: CompositionProcess[] = [];
  const stop = async () => {
    const ends = await Promise.allSettled(processes.map((process) => process.kill("SIGTERM")));
    await dataFolder.remove();
    const failures = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as Error] : []));
    if (failures.length > 0) throw new AggregateError(failures, failures.map(({ message }) => message).join("\n"));
  };

  try {
    const plan: readonly AppPlan[] = APPS[composition](replicas, apps);
    const starts = plan.flatMap(({ app, surfaces, count }) =>
      Array.from({ length: count }, async (_, index) => {
        const name = count === 1 ? app : `${app}-${index + 1}`;
        return startApp({ app, name, surfaces, env: { ...common, ...(await freePorts()), ...options.env } });
      }),
    );
    const started = await Promise.allSettled(starts);
    processes.push(...started.flatMap((start) => (start.status === "fulfilled" ? [start.value] : [])));
    await Promise.all(starts);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    composition,
    apiUrls: processes.flatMap(({ apiUrl }) => apiUrl ?? []),
    widgetUrls: processes.flatMap(({ widgetUrl }) => widgetUrl ?? []),
    toolsUrls: processes.flatMap(({ toolsUrl }) => toolsUrl ?? []),
    consoleUrls: processes.flatMap(({ consoleUrl }) => consoleUrl ?? []),
    adminKey,
    processes,
    stop,
  };
}

/** Returns a port for everything that a process may listen on, so that compositions can run concurrently. */
async function freePorts() {
  return {
    SVC_API_PORT: String(await freePort()),
    SVC_WIDGET_PORT: String(await freePort()),
    SVC_TOOLS_PORT: String(await freePort()),
    SVC_CONSOLE_PORT: String(await freePort()),
    SVC_METRICS_PORT: String(await freePort()),
  };
}

async function startApp(options: {
  app: string;
  name: string;
  surfaces: readonly Surface[];
  env: Record<string, string> & Awaited<ReturnType<typeof freePorts>>;
}): Promise<CompositionProcess> {
  const { app, name, surfaces, env } = options;
  const urlOf = (surface: Surface, port: string) =>
    surfaces.includes(surface) ? `http://127.0.0.1:${port}` : undefined;
  const apiUrl = urlOf("api", env.SVC_API_PORT);
  const widgetUrl = urlOf("widget", env.SVC_WIDGET_PORT);
  const toolsUrl = urlOf("tools", env.SVC_TOOLS_PORT);
  const consoleUrl = urlOf("console", env.SVC_CONSOLE_PORT);
  const metricsUrl = `http://127.0.0.1:${env.SVC_METRICS_PORT}`;
  const healthUrl = apiUrl === undefined ? `${metricsUrl}${HEALTH_PATH}` : `${apiUrl}${API_HEALTH_PATH}`;
  const launch = async () => {
    const child = await startProcess({ file: await findProgram(app), env, name });
    try {
      await child.ready(healthUrl);
      // A console reports its health before it listens.
      if (consoleUrl !== undefined) await child.ready(consoleUrl);
      // It creates the link of the first administrator once its apps are up: one that a test creates before would be
      // invalidated.
      if (app === "standalone") await child.ready(/"ready":true/);
    } catch (error) {
      await child.kill("SIGKILL");
      throw error;
    }
    return child;
  };

  let child = await launch();
  return {
    name,
    get pid() {
      return child.pid;
    },
    ...(apiUrl === undefined ? {} : { apiUrl }),
    ...(widgetUrl === undefined ? {} : { widgetUrl }),
    ...(toolsUrl === undefined ? {} : { toolsUrl }),
    ...(consoleUrl === undefined ? {} : { consoleUrl }),
    metricsUrl,
    output: () => child.output(),
    kill: (signal) => child.kill(signal),
    async start() {
      if (child.isRunning()) throw new Error(`${name} runs; kill it before you start it again.`);
      child = await launch();
    },
  };
}

import { randomBytes } from "node:crypto";
import type { IntegrationId } from "@svc/contracts";
import { findProgram } from "./ask-shared-server.ts";
import type { Exit } from "./child-process.ts";
import { freePort } from "./free-port.ts";
import { startProcess } from "./start-process.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { readTestSettings } from "./test-settings.ts";
import type { CompositionName } from "./test-settings.ts";

/** Parts of a composition. */
export interface CompositionOptions {
  /** Where everything is kept, already migrated. */
  databaseUrl: string;
  /** Where the queues are; in the database when absent. */
  redisUrl?: string;
  /** Default: the one that TEST_COMPOSITION names. */
  composition?: CompositionName;
  /** How many processes of each app run separately; a standalone is always one. Default: 2. */
  replicas?: number;
  /** What runs separately beside API and pipeline; a standalone has it anyhow. */
  apps?: readonly FurtherApp[];
  /** Further settings of the product; they win over those that are made here. */
  env?: Record<string, string>;
}

/** Apps that only some tests need. */
export type FurtherApp = Exclude<IntegrationId, "api"> | "console";

/** One process of a composition, which can be killed and started again with the same settings and ports. */
export interface CompositionProcess {
  /** The app and its number: `standalone`, `api-1`, `pipeline-2`. */
  readonly name: string;
  /** Another one after a restart. */
  readonly pid: number;
  /** Where its API answers; absent when it has none. */
  readonly apiUrl?: string;
  /** Where its widget and its tool server answer, once they are enabled; absent when it has none. */
  readonly widgetUrl?: string;
  readonly toolsUrl?: string;
  /** Where its console answers; absent when it has none. */
  readonly consoleUrl?: string;
  /** Where its health and its figures are. */
  readonly metricsUrl: string;
  /** Its output since its last start. */
  output(): string;
  /** Resolves when it is gone. SIGTERM by default. */
  kill(signal?: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<Exit>;
  /** Starts it again and waits until it is healthy. */
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
  /** Ends all processes in the clean way. Rejects when one does not end of itself. */
  stop(): Promise<void>;
}

const API_HEALTH_PATH = "/api/v1/health";
/** Of a process without an API: it is alive. Whether it keeps up with its work is for the tests to say. */
const HEALTH_PATH = "/healthz";

/** What a process serves besides its health. */
type Surface = "api" | "widget" | "tools" | "console";

interface AppPlan {
  app: string;
  surfaces: readonly Surface[];
  count: number;
}

/** What the further apps that listen on a port serve. */
const SURFACES: Partial<Record<FurtherApp, readonly Surface[]>> = {
  widget: ["widget"],
  "tool-server": ["tools"],
  console: ["console"],
};

/** What each composition runs; all of it is started at once. */
const APPS = {
  standalone: () => [{ app: "standalone", surfaces: ["api", "widget", "tools", "console"], count: 1 }],
  separate: (count: number, further: readonly FurtherApp[]) => [
    { app: "api", surfaces: ["api"], count },
    { app: "pipeline", surfaces: [], count },
    ...further.map((app): AppPlan => ({ app, surfaces: SURFACES[app] ?? [], count })),
  ],
} satisfies Record<CompositionName, (replicas: number, further: readonly FurtherApp[]) => AppPlan[]>;

/**
 * Starts the product as real processes from their builds on a database (and a Redis), with free ports and keys of its
 * own, and waits until every process says that it is healthy. Nothing of it outlives the test file.
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

/** A port for everything that a process may listen on, so that compositions run side by side. */
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
      // It makes the link of the first administrator once its apps are up: one that a test makes before would be void.
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

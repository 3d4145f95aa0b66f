import { randomBytes } from "node:crypto";
import type { Exit } from "./child-process.ts";
import { freePort } from "./free-port.ts";
import { repositoryPath } from "./repository-path.ts";
import { startProcess } from "./start-process.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { readTestSettings } from "./test-settings.ts";
import type { CompositionName } from "./test-settings.ts";

/** What a composition is put together from. */
export interface CompositionOptions {
  /** Where everything is kept, already migrated. */
  databaseUrl: string;
  /** Where the queues are; in the database when absent. */
  redisUrl?: string;
  /** Default: the one that TEST_COMPOSITION names. */
  composition?: CompositionName;
  /** How many processes of each app run separately; a standalone is always one. Default: 2. */
  replicas?: number;
  /** Further settings of the product; they win over those that are made here. */
  env?: Record<string, string>;
}

/** One process of a composition, which can be killed and started again with the same settings and ports. */
export interface CompositionProcess {
  /** The app and its number: `standalone`, `api-1`, `pipeline-2`. */
  readonly name: string;
  /** Another one after a restart. */
  readonly pid: number;
  /** Where its API answers; absent when it has none. */
  readonly apiUrl?: string;
  /** What it has written since it was last started. */
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
  /** An administrator's key. */
  readonly adminKey: string;
  readonly processes: CompositionProcess[];
  /** Ends all processes in the clean way. Rejects when one does not end of itself. */
  stop(): Promise<void>;
}

const API_HEALTH_PATH = "/api/v1/health";
/** Of a process without an API: it is alive. Whether it keeps up with its work is for the tests to say. */
const HEALTH_PATH = "/healthz";

/** What each composition runs, in the order of the start. */
const APPS = {
  standalone: () => [{ app: "standalone", hasApi: true, count: 1 }],
  separate: (replicas: number) => [
    { app: "api", hasApi: true, count: replicas },
    { app: "pipeline", hasApi: false, count: replicas },
  ],
} satisfies Record<CompositionName, (replicas: number) => { app: string; hasApi: boolean; count: number }[]>;

/**
 * Starts the product as real processes from their builds on a database (and a Redis), with free ports and keys of its
 * own, and waits until every process says that it is healthy. Nothing of it outlives the test file.
 */
export async function startComposition(options: CompositionOptions): Promise<Composition> {
  const { composition = readTestSettings().composition, replicas = 2 } = options;
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
    for (const { app, hasApi, count } of APPS[composition](replicas)) {
      const starts = Array.from({ length: count }, async (_, index) => {
        const name = count === 1 ? app : `${app}-${index + 1}`;
        return startApp({ app, name, hasApi, env: { ...common, ...(await freePorts()), ...options.env } });
      });
      const started = await Promise.allSettled(starts);
      processes.push(...started.flatMap((start) => (start.status === "fulfilled" ? [start.value] : [])));
      await Promise.all(starts);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    composition,
    apiUrls: processes.flatMap(({ apiUrl }) => apiUrl ?? []),
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
  hasApi: boolean;
  env: Record<string, string> & { SVC_API_PORT: string; SVC_METRICS_PORT: string };
}): Promise<CompositionProcess> {
  const { app, name, hasApi, env } = options;
  const apiUrl = hasApi ? `http://127.0.0.1:${env.SVC_API_PORT}` : undefined;
  const healthUrl =
    apiUrl === undefined ? `http://127.0.0.1:${env.SVC_METRICS_PORT}${HEALTH_PATH}` : `${apiUrl}${API_HEALTH_PATH}`;
  const launch = async () => {
    const child = await startProcess({ file: repositoryPath(`apps/${app}/dist/main.js`), env, name });
    try {
      await child.ready(healthUrl);
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
    output: () => child.output(),
    kill: (signal) => child.kill(signal),
    async start() {
      if (child.isRunning()) throw new Error(`${name} runs; kill it before you start it again.`);
      child = await launch();
    },
  };
}

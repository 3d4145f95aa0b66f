// The product as separate processes on Redis and PostgreSQL.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";
import type { BrowserContext } from "playwright-core";
import { hashPassword } from "@svc/auth";
import { createLog } from "@svc/log";
import { initialize } from "@svc/operations";
import { closeResources, loadConfig, migrateAll, openResources } from "@svc/runtime";
import type { Store } from "@svc/store";
import {
  findChromium,
  freePort,
  queryDatabase,
  repositoryPath,
  startEmbeddedProduct,
  startPostgres,
  startRedis,
  waitFor,
} from "@svc/testing";
import type { EmbeddedProduct } from "@svc/testing";
import { measure } from "./measure.ts";
import type { LoadRequest, Subject } from "./measure.ts";
import { start, stop } from "./processes.ts";
import type { Groups } from "./processes.ts";

/** All calls here use one key from one address, which would exceed its rate limit. */
export const WITHOUT_RATE_LIMIT = "UPDATE api_keys SET rate_limit = 0";

/** The options of Node.js with which the image and `npm start` start the product. */
export const NODE_OPTIONS = "--max-semi-space-size=32";

/** Returns the prefix of the queues of a product, so that several can run on one Redis; it may contain no underscores. */
export const queuePrefixOf = (name: string) => `bench-${name.replaceAll("_", "-")}`;

/** The log of what the benchmark itself opens: warnings and errors only. */
export const benchLog = createLog({ level: "warn", name: "bench" });

type Project = Awaited<ReturnType<Store["projects"]["ensure"]>>["project"];
/** Fills the store of a product, in its default project, before the product starts. */
export type PrepareStore = (store: Store, project: Project) => Promise<unknown>;

/** The number of processes of each app, by its name. */
type Replicas = Record<string, number>;

/** A running product; the processes of its groups have the names of their apps. */
export interface Product {
  name: string;
  databaseUrl: string;
  groups: Groups;
  /** How long each process took until it was ready, in ms. */
  started: Record<string, number>;
  /** The addresses of an app's processes. */
  urlsOf: (app: string) => string[];
  stop: () => Promise<void>;
}

/** Which setting names the port of an app that listens, and the path that says that it does. */
const PORTS: Record<string, { setting: string; ready: string }> = {
  api: { setting: "SVC_API_PORT", ready: "/api/v1/health" },
  widget: { setting: "SVC_WIDGET_PORT", ready: "/healthz" },
  "tool-server": { setting: "SVC_TOOLS_PORT", ready: "/healthz" },
  console: { setting: "SVC_CONSOLE_PORT", ready: "/healthz" },
};
const METRICS = { setting: "SVC_METRICS_PORT", ready: "/readyz" };

interface ProductOptions {
  databaseUrl: string;
  redisUrl: string;
  queuePrefix: string;
  /** An administrator's key without a rate limit. */
  key: string;
  prepareStore: PrepareStore;
  apps: Replicas;
  /** All processes write a CPU profile there when they stop. */
  profileDir?: string;
}

/** Starts the apps on a new database. */
async function startProduct(options: ProductOptions): Promise<Product> {
  const { databaseUrl, redisUrl, queuePrefix, key, prepareStore, apps, profileDir } = options;
  const env = {
    NODE_OPTIONS,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    SVC_ADMIN_KEY: key,
    SVC_SECRET_KEY: "bench-secret-key-0123456789abcdefghij",
    SVC_LOG_LEVEL: "warn",
    SVC_QUEUE_PREFIX: queuePrefix,
  };
  await setUp(env, key, prepareStore);
  const names = Object.entries(apps).flatMap(([app, count]) =>
    Array.from({ length: count }, (_, index) => ({ app, label: count === 1 ? app : `${app}-${index + 1}` })),
  );
  const replicas: { app: string; label: string; child: ReturnType<typeof start>; url: string; took: number }[] = [];
  for (const { app, label } of names) {
    const { setting, ready } = PORTS[app] ?? METRICS;
    const port = await freePort();
    const startedAt = performance.now();
    const profile = ["--cpu-prof", `--cpu-prof-dir=${profileDir}`, `--cpu-prof-name=${label}.cpuprofile`];
    const main = repositoryPath(`apps/${app}/dist/main.js`);
    const child = start([...(profileDir === undefined ? [] : profile), main], {
      env: { ...env, [setting]: String(port) },
    });
    const url = `http://127.0.0.1:${port}`;
    await waitFor(async () => (await fetch(`${url}${ready}`)).ok, { what: label, timeoutMs: 60_000 });
    replicas.push({ app, label, child, url, took: performance.now() - startedAt });
  }
  return {
    name: "product",
    databaseUrl,
    groups: Object.fromEntries(replicas.map(({ label, child }) => [label, child.pid])),
    started: Object.fromEntries(replicas.map(({ label, took }) => [label, took])),
    urlsOf: (app) => replicas.filter((replica) => replica.app === app).map(({ url }) => url),
    async stop() {
      await Promise.all(replicas.map(({ child }) => stop(child)));
    },
  };
}

/** Creates the database, with the agents of the guide disabled. */
async function setUp(env: Record<string, string>, key: string, prepareStore: PrepareStore) {
  const { DATABASE_URL: databaseUrl = "" } = env;
  await migrateAll(databaseUrl, benchLog);
  const resources = await openResources(loadConfig(env), { app: "bench", log: benchLog });
  const guideDir = repositoryPath("docs/guide");
  const { project } = await initialize(resources, { configuredAdminKey: key, guideDir, showsKey: true });
  await queryDatabase(databaseUrl, WITHOUT_RATE_LIMIT);
  await queryDatabase(databaseUrl, "UPDATE agents SET enabled = false");
  await prepareStore(resources.store, project);
  await closeResources(resources);
}

// The servers of a benchmark, the products on them, and what is sent to them.

/** Options of a measurement. */
export interface BenchOptions {
  seconds: number;
  runs: number;
  warmUpSeconds: number;
  connections: readonly number[];
  messages: number;
  sizes: readonly number[];
  tickets: number;
  minutes: number;
  rate: number;
  rows: readonly number[];
  explains: boolean;
  profile: string | undefined;
}

interface ProductOfBench {
  prepareStore: PrepareStore;
  apps?: Replicas;
  /** Default: a new database. */
  databaseUrl?: string;
}

/** The servers and options of a run. */
export type Bench = Awaited<ReturnType<typeof startBench>>;

export const KEY = "bench-key-0123456789abcdef";
export const FIXED = "Thank you. We have received your message and will come back to you.";
export const MESSAGE = {
  text: "My invoice 2231 shows the wrong amount, can you check it please?",
  userId: "u-1",
  meta: { source: "bench" },
};
export const MESSAGES_PATH = "/api/v1/messages";
export const headersOf = (key: string) => ({ "content-type": "application/json", authorization: `Bearer ${key}` });
export const POST = { path: MESSAGES_PATH, headers: headersOf(KEY), body: JSON.stringify(MESSAGE) };

/** Returns an async message, for 64 connections. */
export const asyncPost = (fields: { chatId?: string } = {}): Omit<LoadRequest, "url"> => ({
  ...POST,
  connections: 64,
  body: JSON.stringify({ ...MESSAGE, mode: "async", ...fields }),
  expect: 202,
});

/** The defaults of PostgreSQL, as in docker-compose.yml; the embedded PostgreSQL has smaller values of its own. */
const POSTGRES_DEFAULTS = {
  fsync: "on",
  full_page_writes: "on",
  shared_buffers: "128MB",
  max_wal_size: "1GB",
  wal_level: "replica",
  max_wal_senders: "10",
  max_logical_replication_workers: "4",
  max_parallel_workers: "8",
  io_method: "worker",
  jit: "on",
};

/** Starts PostgreSQL and Redis as in production. */
export async function startBench(options: BenchOptions) {
  const scratch = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const postgres = await startPostgres({ settings: POSTGRES_DEFAULTS });
  const redis = await startRedis({ settings: { appendonly: "yes", appendfsync: "everysec" } });
  const servers: Groups = { redis: redis.pid, postgres: postgres.pid };
  const createDatabase = async (name: string) => {
    await queryDatabase(postgres.url, `CREATE DATABASE ${name}`);
    return postgres.url.replace(/\/svc$/, `/${name}`);
  };
  return {
    options,
    servers,
    scratch,
    redisPort: redis.port,
    createDatabase,
    measureAll: (subjects: readonly Subject[]) => measure(subjects, options),
    /** Starts a product on its own database and passes it to `work`. */
    withProduct: async <Result>(
      name: string,
      { prepareStore, apps = { api: 1, pipeline: 1 }, databaseUrl }: ProductOfBench,
      work: (product: Product) => Promise<Result>,
    ) => {
      const product = await startProduct({
        databaseUrl: databaseUrl ?? (await createDatabase(name)),
        redisUrl: redis.url,
        queuePrefix: queuePrefixOf(name),
        key: KEY,
        prepareStore,
        apps,
        ...(options.profile === undefined ? {} : { profileDir: resolve(options.profile, name) }),
      });
      try {
        return await work(product);
      } finally {
        await product.stop();
      }
    },
    close: async () => {
      await redis.stop();
      await postgres.stop();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** Adds an agent with a fixed reply. */
export const answerFixed: PrepareStore = (store, project) =>
  store.agents.insert(project.id, { name: "fixed", fixedReply: FIXED, reviewPolicy: "auto" });

// The embedded product with its widget, for what is measured of it.

/** The widget's key. */
export const WIDGET_KEY = "bench-widget-key-0001";

/** Starts the embedded product with its widget enabled and `config` as its settings. */
export async function startWidgetProduct(config: Record<string, unknown> = {}) {
  const product = await startEmbeddedProduct({ env: { NODE_OPTIONS } });
  const json = { enabled: true, config: { apiKey: WIDGET_KEY, allowedOrigins: [], ...config } };
  await product.call("PUT", "/admin/channels/widget", { json });
  const configUrl = `${product.widgetUrl}/api/widget/config/${WIDGET_KEY}`;
  await waitFor(async () => (await fetch(configUrl)).ok, { what: "the widget" });
  return product;
}

// People who use the console.

/** Starts the Chromium of this machine without a window. */
export function launchChromium() {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error("There is no Chromium in the PATH; install it or set SVC_CHROMIUM.");
  // Its sandbox refuses to run as root, the user of containers.
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
}

type NewOperator = Parameters<Store["operators"]["insert"]>[0];

const PASSWORD = "correct horse battery";

/** Adds an operator, by default an administrator of everything. */
export async function addOperator(
  store: Store,
  {
    name,
    email,
    roles = [{ project: null, role: "administrator" }],
  }: { name: string; email: string; roles?: NewOperator["roles"] },
) {
  return store.operators.insert({ name, email, roles, passwordHash: await hashPassword(PASSWORD) });
}

/** Gives a browser the cookie of an operator. */
export async function signIn(context: BrowserContext, { consoleUrl: url }: EmbeddedProduct, email: string) {
  const response = await fetch(`${url}/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const [, name, value] = /^(\w+)=([^;]+)/.exec(response.headers.getSetCookie()[0] ?? "") ?? [];
  if (name === undefined || value === undefined) throw new Error(`sign-in failed: ${await response.text()}`);
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Strict" }]);
}

// The product as separate processes on Redis and PostgreSQL.
import { createLog } from "@svc/log";
import { initialize } from "@svc/operations";
import { closeResources, loadConfig, migrateAll, openResources } from "@svc/runtime";
import type { Store } from "@svc/store";
import { freePort, queryDatabase, repositoryPath, waitFor } from "@svc/testing";
import { start, stop } from "./processes.ts";
import type { Groups } from "./processes.ts";

/** All calls here use one key from one address, which would exceed its rate limit. */
export const WITHOUT_RATE_LIMIT = "UPDATE api_keys SET rate_limit = 0";

/** Returns the prefix of the queues of a product, so that several can run on one Redis; it may contain no underscores. */
export const queuePrefixOf = (name: string) => `bench-${name.replaceAll("_", "-")}`;

/** The log of what the benchmark itself opens: warnings and errors only. */
export const benchLog = createLog({ level: "warn", name: "bench" });

type Project = Awaited<ReturnType<Store["projects"]["ensure"]>>["project"];
/** Fills the store of a product, in its default project, before the product starts. */
export type PrepareStore = (store: Store, project: Project) => Promise<unknown>;

/** The number of processes of each app, by its name. */
export type Replicas = Record<string, number>;

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
export async function startProduct(options: ProductOptions): Promise<Product> {
  const { databaseUrl, redisUrl, queuePrefix, key, prepareStore, apps, profileDir } = options;
  const env = {
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

// The product as separate processes on Redis and PostgreSQL.
import { join } from "node:path";
import { initialize } from "@svc/operations";
import { migrateAll, loadConfig, openResources, closeResources } from "@svc/runtime";
import { repositoryPath } from "@svc/testing";
import { queryDatabase as query } from "@svc/testing";
import { freePort } from "@svc/testing";
import { start, stop, until } from "./processes.ts";

/** One key from one address makes more calls here than its rate limit would let through. */
export const WITHOUT_RATE_LIMIT = "UPDATE api_keys SET rate_limit = 0";

/** The log of what the benchmark itself opens: faults only. */
export const quietLog = { info() {}, warn: console.error, error: console.error, debug() {}, fatal: console.error };

/** Which setting names the port of an app that listens, and the path that says that it does. */
const PORTS = {
  api: { setting: "SVC_API_PORT", ready: "/api/v1/health" },
  widget: { setting: "SVC_WIDGET_PORT", ready: "/healthz" },
  "tool-server": { setting: "SVC_TOOLS_PORT", ready: "/healthz" },
  console: { setting: "SVC_CONSOLE_PORT", ready: "/healthz" },
};

/**
 * Starts so many replicas of each app on a new database, with one administrator's key without a rate limit.
 * `prepareStore` gets the store and the default project before. With `profileDir` all write a CPU profile there when they
 * stop. `urls` has the addresses of each app's replicas, `url` is that of the first api; `started` says how long each
 * took until it was ready, in ms.
 */
export async function startProduct({
  databaseUrl,
  redisUrl,
  key,
  profileDir,
  prepareStore,
  apps = { api: 1, pipeline: 1 },
}) {
  const env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    SVC_ADMIN_KEY: key,
    SVC_SECRET_KEY: "bench-secret-key-0123456789abcdefghij",
    SVC_LOG_LEVEL: "warn",
    SVC_QUEUE_PREFIX: "bench",
  };
  await migrateAll(databaseUrl, quietLog);
  const resources = await openResources(loadConfig(env), { app: "bench", log: quietLog });
  const guideDir = repositoryPath("docs/guide");
  const { project } = await initialize(resources, { configuredAdminKey: key, guideDir, showsKey: true });
  await query(databaseUrl, WITHOUT_RATE_LIMIT);
  await query(databaseUrl, "UPDATE agents SET enabled = false");
  await prepareStore(resources.store, project);
  await closeResources(resources);
  const profiling = (name) =>
    profileDir === undefined
      ? []
      : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`, `--cpu-prof-name=${name}.cpuprofile`];
  const replicas = [];
  const started = {};
  for (const [name, count] of Object.entries(apps)) {
    for (let number = 1; number <= count; number++) {
      const label = count === 1 ? name : `${name}-${number}`;
      const { setting = "SVC_METRICS_PORT", ready = "/readyz" } = PORTS[name] ?? {};
      const port = await freePort();
      const startedAt = performance.now();
      const main = join(repositoryPath("apps"), name, "dist", "main.js");
      const child = start(process.execPath, [...profiling(label), main], { env: { ...env, [setting]: String(port) } });
      const url = `http://127.0.0.1:${port}`;
      await until(label, async () => (await fetch(`${url}${ready}`)).ok, 10);
      started[label] = performance.now() - startedAt;
      replicas.push({ name, label, child, url });
    }
  }
  const urls = Object.fromEntries(
    Object.keys(apps).map((app) => [app, replicas.filter(({ name }) => name === app).map(({ url }) => url)]),
  );
  return {
    name: "product",
    url: urls.api?.[0],
    urls,
    started,
    databaseUrl,
    groups: Object.fromEntries(replicas.map(({ label, child }) => [label, child.pid])),
    async stop() {
      await Promise.all(replicas.map(({ child }) => stop(child)));
    },
  };
}

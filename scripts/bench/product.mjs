// The product as separate processes on Redis and PostgreSQL.
import { join } from "node:path";
import { ROOT } from "../prepare.mjs";
import { query } from "./database.mjs";
import { freePort, start, stop, until } from "./processes.mjs";

/** One key from one address makes more calls here than its rate limit would let through. */
export const WITHOUT_RATE_LIMIT = "UPDATE api_keys SET rate_limit = 0";

/** The log of what the benchmark itself opens: faults only. */
export const quietLog = { info() {}, warn: console.error, error: console.error, debug() {}, fatal: console.error };

/**
 * Starts api and pipeline on a new database, with one administrator's key without a rate limit. `prepareStore` gets the
 * store and the default project before. With `profileDir` both write a CPU profile there when they stop.
 */
export async function startProduct({ databaseUrl, redisUrl, key, profileDir, prepareStore }) {
  const { migrateAll, loadConfig, openResources, closeResources } =
    await import("../../packages/runtime/dist/index.js");
  const { initialize } = await import("../../packages/operations/dist/index.js");
  const env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    SVC_ADMIN_KEY: key,
    SVC_SECRET_KEY: "bench-secret-key-0123456789abcdefghij",
    SVC_LOG_LEVEL: "warn",
    SVC_API_PORT: String(await freePort()),
    SVC_QUEUE_PREFIX: "bench",
  };
  await migrateAll(databaseUrl, quietLog);
  const resources = await openResources(loadConfig(env), { app: "bench", log: quietLog });
  const guideDir = join(ROOT, "docs", "guide");
  const { project } = await initialize(resources, { configuredAdminKey: key, guideDir, showsKey: true });
  await query(databaseUrl, WITHOUT_RATE_LIMIT);
  await query(databaseUrl, "UPDATE agents SET enabled = false");
  await prepareStore(resources.store, project);
  await closeResources(resources);
  const profiling = (name) =>
    profileDir === undefined
      ? []
      : ["--cpu-prof", `--cpu-prof-dir=${profileDir}`, `--cpu-prof-name=${name}.cpuprofile`];
  const startApp = (name) =>
    start(process.execPath, [...profiling(name), join(ROOT, "apps", name, "dist", "main.js")], { env });
  const api = startApp("api");
  const pipeline = startApp("pipeline");
  const url = `http://127.0.0.1:${env.SVC_API_PORT}`;
  await until("the product", async () => (await fetch(`${url}/api/v1/health`)).ok);
  return {
    url,
    databaseUrl,
    groups: { api: api.pid, pipeline: pipeline.pid },
    async stop() {
      await Promise.all([stop(api), stop(pipeline)]);
    },
  };
}

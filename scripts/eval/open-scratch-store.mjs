// A database of its own for an evaluation, gone when it ends.
import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../prepare.mjs";

/** Nothing has to survive a crash here. */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", shared_buffers: "128MB" };

const log = { debug() {}, info() {}, warn: console.error, error: console.error, fatal: console.error };

/** An open store with an empty project in it, and what ends it. */
export async function openScratchStore() {
  const { startEmbeddedPostgres } = await import("../../packages/embedded/dist/index.js");
  const { migrateStore, openStore } = await import("../../packages/store/dist/index.js");
  const dataDir = mkdtempSync(join(tmpdir(), "svc-eval-"));
  const given = process.env.DATABASE_URL;
  const server = given === undefined ? await startEmbeddedPostgres({ dataDir, log, settings: SETTINGS }) : undefined;
  const serverUrl = given ?? server.superuserUrl;
  const database = `svc_eval_${process.pid}`;
  await run(serverUrl, `CREATE DATABASE ${database}`);
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  await migrateStore(url.href, log);
  const store = openStore({ url: url.href, secretKey: "evaluation-needs-no-secret-0123456789", log });

  return {
    store,
    log,
    /** A new project. */
    async addProject(name) {
      const { project } = await store.projects.ensure(name);
      return project;
    },
    async close() {
      await store.close();
      await run(serverUrl, `DROP DATABASE ${database}`);
      await server?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function run(url, sql) {
  const pg = createRequire(join(ROOT, "packages", "store", "package.json"))("pg");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

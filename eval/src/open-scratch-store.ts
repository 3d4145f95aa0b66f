// A database of its own for an evaluation, gone when it ends.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedPostgres } from "@svc/embedded";
import { migrateStore, openStore } from "@svc/store";

/** Nothing has to survive a crash here. */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", shared_buffers: "128MB" };

const log = { debug() {}, info() {}, warn: console.error, error: console.error, fatal: console.error };

/** An open store on an empty database, and what ends it. Ends itself when the process is interrupted. */
export async function openScratchStore() {
  const endings = [];
  const close = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  process.once("SIGINT", () => void close().finally(() => process.exit(130)));
  try {
    const dataDir = mkdtempSync(join(tmpdir(), "svc-eval-"));
    endings.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const serverUrl = process.env.DATABASE_URL ?? (await startServer(dataDir));
    const database = `svc_eval_${process.pid}`;
    await run(serverUrl, `CREATE DATABASE ${database}`);
    endings.push(() => run(serverUrl, `DROP DATABASE ${database}`));
    const url = new URL(serverUrl);
    url.pathname = `/${database}`;
    await migrateStore(url.href, log);
    const store = openStore({ url: url.href, secretKey: "evaluation-needs-no-secret-0123456789", log });
    endings.push(() => store.close());
    const addProject = async (name) => (await store.projects.ensure(name)).project;
    return { store, log, addProject, close };
  } catch (error) {
    await close();
    throw error;
  }

  async function startServer(dataDir) {
    const server = await startEmbeddedPostgres({ dataDir, log, settings: SETTINGS });
    endings.push(() => server.stop());
    return server.maintenanceUrl;
  }
}

async function run(url, sql) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

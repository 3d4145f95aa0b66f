// A temporary database for an evaluation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "@svc/embedded";
import { createLog } from "@svc/log";
import { migrateStore, openStore } from "@svc/store";
import { queryDatabase } from "@svc/testing";

/** Durability is not needed here. */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", shared_buffers: "128MB" };

const log = createLog({ level: "warn", name: "eval", destination: process.stderr });

/** An open store on an empty database. */
export type Scratch = Awaited<ReturnType<typeof openScratchStore>>;
export type Project = Awaited<ReturnType<Scratch["addProject"]>>;

/** Opens a store on an empty database, with a function that removes it. Removes it when the process is interrupted. */
export async function openScratchStore() {
  const endings: (() => unknown)[] = [];
  const close = async () => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  process.once("SIGINT", () => void close().finally(() => process.exit(130)));
  try {
    const dataDir = mkdtempSync(join(tmpdir(), "svc-eval-"));
    endings.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const serverUrl = process.env.DATABASE_URL ?? (await startServer(dataDir));
    const database = `svc_eval_${process.pid}`;
    await queryDatabase(serverUrl, `CREATE DATABASE ${database}`);
    endings.push(() => queryDatabase(serverUrl, `DROP DATABASE ${database}`));
    const url = new URL(serverUrl);
    url.pathname = `/${database}`;
    await migrateStore(url.href, log);
    const store = openStore({ url: url.href, secretKey: "evaluation-needs-no-secret-0123456789", log });
    endings.push(() => store.close());
    const addProject = async (name: string) => (await store.projects.ensure(name)).project;
    return { store, log, addProject, close };
  } catch (error) {
    await close();
    throw error;
  }

  async function startServer(dataDir: string) {
    const server = await startEmbeddedPostgres({ dataDir, log, settings: SETTINGS });
    endings.push(() => server.stop());
    return server.maintenanceUrl;
  }
}

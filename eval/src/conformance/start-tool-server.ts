// The tool server on a scratch PostgreSQL, with the tools of the product and those that the suite calls.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueKey } from "@svc/auth";
import { acquireDataFolder, startEmbeddedPostgres } from "@svc/embedded";
import { initialize } from "@svc/operations";
import { closeResources, loadConfig, migrateAll, openResources } from "@svc/runtime";
import { repositoryPath } from "@svc/testing";
import { loadTools, toolServerService } from "@svc/tool-server";
import { FIXTURE_TOOLS } from "./fixture-tools.ts";

const log = {
  info() {},
  debug() {},
  warn: console.error,
  error: console.error,
  fatal: console.error,
  isLevelEnabled: () => false,
};

/** Starts it on a free port; `key` is an administrator's without a rate limit. */
export async function startToolServer(key) {
  const folder = await mkdtemp(join(tmpdir(), "svc-conformance-"));
  const undo = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const lock = await acquireDataFolder(folder);
    undo.push(() => lock.release());
    const postgres = await startEmbeddedPostgres({ dataDir: folder, lock, log, onProgress() {} });
    undo.push(() => postgres.stop());
    await migrateAll(postgres.url, log);
    const config = loadConfig({
      DATABASE_URL: postgres.url,
      SVC_SECRET_KEY: "conformance-secret-key-0123456789abcdef",
      SVC_DATA_DIR: folder,
      SVC_TOOLS_PORT: "0",
    });
    const resources = await openResources(config, { app: "conformance", log });
    undo.push(() => closeResources(resources));
    await initialize(resources, {
      configuredAdminKey: undefined,
      guideDir: repositoryPath("docs/guide"),
      showsKey: true,
    });
    const owner = { name: "conformance", scopes: ["admin:*"], project: null, createdBy: "conformance" };
    await issueKey(resources.store, { ...owner, rateLimit: null, key });
    const loadAll = async () => [...(await loadTools()), ...FIXTURE_TOOLS];
    const running = await toolServerService(resources, loadAll).start();
    undo.push(() => running.stop());
    return { url: running.urls["Tool server"], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

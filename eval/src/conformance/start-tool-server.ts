// The tool server on a scratch PostgreSQL, with the tools of the product and those that the suite calls.
import { issueKey } from "@svc/auth";
import { createLog } from "@svc/log";
import { initialize } from "@svc/operations";
import { closeResources, loadConfig, migrateAll, openResources } from "@svc/runtime";
import { repositoryPath, startPostgres } from "@svc/testing";
import { loadTools, toolServerService } from "@svc/tool-server";
import { FIXTURE_TOOLS } from "./fixture-tools.ts";

const log = createLog({ level: "warn", name: "conformance", destination: process.stderr });

/** Starts it on a free port; `key` is an administrator's without a rate limit. */
export async function startToolServer(key: string) {
  const postgres = await startPostgres();
  const ends: (() => Promise<unknown>)[] = [() => postgres.stop()];
  const stop = async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    await migrateAll(postgres.url, log);
    const config = loadConfig({
      DATABASE_URL: postgres.url,
      SVC_SECRET_KEY: "conformance-secret-key-0123456789abcdef",
      SVC_TOOLS_PORT: "0",
    });
    const resources = await openResources(config, { app: "conformance", log });
    ends.push(() => closeResources(resources));
    const guideDir = repositoryPath("docs/guide");
    await initialize(resources, { configuredAdminKey: undefined, guideDir, showsKey: true });
    const owner = { name: "conformance", scopes: ["admin:*" as const], project: null, createdBy: "conformance" };
    await issueKey(resources.store, { ...owner, rateLimit: null, key });
    const loadAll = async () => [...(await loadTools()), ...FIXTURE_TOOLS];
    const running = await toolServerService(resources, loadAll).start();
    ends.push(() => running.stop());
    return { url: running.urls?.["Tool server"] ?? "", stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
